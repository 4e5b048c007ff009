package bench;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Uncontended by blocking calls: one thread per name. */
final class Blocking implements Main.Work {
    private final RedissonClient client;
    private final Job job;
    private final Warmth warmth;

    Blocking(RedissonClient client, Job job, Warmth warmth) {
        this.client = client;
        this.job = job;
        this.warmth = warmth;
    }

    @Override
    public Sample perform(Main.Start start) throws Exception {
        RLock[] locks = new RLock[job.inFlight];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = client.getLock(job.prefix + i);
        }
        Threads.Loop loop = (measure, i) -> {
            while (!measure.over()) {
                long asked = System.nanoTime();
                locks[i].lock();
                locks[i].unlock();
                measure.done(asked, System.nanoTime());
            }
        };
        try (Threads threads = new Threads(locks.length)) {
            threads.run(warmth.owed(job), 0, loop);
            start.run();
            return threads.run(job.seconds, 0, loop);
        }
    }
}
