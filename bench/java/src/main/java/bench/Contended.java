package bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * All threads want one name: lock, pass the guard, unlock, again. As in the Go
 * performers the warm-up has a name and a guard of its own, and waits that end in
 * the first quarter of the time are not in the latency: the queue is filling up.
 */
final class Contended implements Main.Work {
    private static final double UNTIMED = 0.25;

    private final RedissonClient client;
    private final Job job;
    private final Warmth warmth;

    Contended(RedissonClient client, Job job, Warmth warmth) {
        this.client = client;
        this.job = job;
        this.warmth = warmth;
    }

    @Override
    public Sample perform(Main.Start start) throws Exception {
        Path own = Files.createTempFile("bench-guard", null);
        Files.write(own, new byte[Guard.SIZE]);
        try (Threads threads = new Threads(job.waiters)) {
            crowd(threads, "warm", own.toString(), warmth.owed(job));
            start.run();
            return crowd(threads, "name", job.guard, job.seconds);
        } finally {
            Files.delete(own);
        }
    }

    private Sample crowd(Threads threads, String name, String file, double seconds) throws Exception {
        RLock lock = client.getLock(job.prefix + name);
        AtomicLong guarded = new AtomicLong();
        AtomicLong changed = new AtomicLong();
        AtomicLongArray grants = new AtomicLongArray(job.waiters);
        try (Guard guard = Guard.open(file)) {
            Sample s = threads.run(seconds, UNTIMED, (measure, i) -> {
                long who = (long) job.process << 32 | i + 1;
                while (!measure.over()) {
                    long asked = System.nanoTime();
                    lock.lock();
                    long granted = System.nanoTime();
                    if (measure.counts(granted)) {
                        if (guard.pass(who)) {
                            changed.incrementAndGet();
                        }
                        guarded.incrementAndGet();
                        grants.incrementAndGet(i);
                    }
                    lock.unlock();
                    measure.done(asked, granted);
                }
            });
            double unserved = 0;
            for (int i = 0; i < grants.length(); i++) {
                if (grants.get(i) == 0) {
                    unserved++;
                }
            }
            s.extra.put("guarded", guarded.doubleValue());
            s.extra.put("changed_hands", changed.doubleValue());
            s.extra.put("unserved", unserved);
            return s;
        }
    }
}
