package bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Each slot locks and unlocks a name of its own, again and again, by the async
 * API: the answer to one call makes the next, and no thread ever waits. A slot has
 * a thread id of its own, since to Redisson that is who owns the lock.
 */
final class Uncontended implements Main.Work {
    private final RedissonClient client;
    private final Job job;
    private final Warmth warmth;

    Uncontended(RedissonClient client, Job job, Warmth warmth) {
        this.client = client;
        this.job = job;
        this.warmth = warmth;
    }

    @Override
    public Sample perform(Main.Start start) throws Exception {
        Slot[] slots = new Slot[job.inFlight];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Slot(client.getLock(job.prefix + i), i + 1);
        }
        run(slots, warmth.owed(job));
        start.run();
        return run(slots, job.seconds);
    }

    /** Runs all slots for so long, and returns when they are at rest. */
    private Sample run(Slot[] slots, double seconds) throws Exception {
        CountDownLatch busy = new CountDownLatch(slots.length);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Measure measure = new Measure(seconds, 0);
        for (Slot s : slots) {
            s.begin(measure, busy, failure);
        }
        measure.await();
        busy.await();
        if (failure.get() != null) {
            throw new IllegalStateException("a pair failed: " + failure.get(), failure.get());
        }
        return measure.sample();
    }

    private static final class Slot {
        private final RLock lock;
        private final long thread;
        private Measure measure;
        private CountDownLatch busy;
        private AtomicReference<Throwable> failure;
        private long asked;

        Slot(RLock lock, long thread) {
            this.lock = lock;
            this.thread = thread;
        }

        void begin(Measure measure, CountDownLatch busy, AtomicReference<Throwable> failure) {
            this.measure = measure;
            this.busy = busy;
            this.failure = failure;
            lock();
        }

        private void lock() {
            asked = System.nanoTime();
            lock.lockAsync(thread).whenComplete((none, e) -> {
                if (e == null) {
                    unlock();
                } else {
                    fail(e);
                }
            });
        }

        private void unlock() {
            lock.unlockAsync(thread).whenComplete((none, e) -> {
                if (e != null) {
                    fail(e);
                    return;
                }
                measure.done(asked, System.nanoTime());
                if (measure.over()) {
                    busy.countDown();
                } else {
                    lock();
                }
            });
        }

        private void fail(Throwable e) {
            failure.compareAndSet(null, e);
            busy.countDown();
        }
    }
}
