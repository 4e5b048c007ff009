package interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Critical sections that do the one thing a lock is needed for: read a plain key,
 * add one, write it back. If two ever overlap, the key ends up smaller than the
 * number of sections.
 */
final class Storm {
    private final RLock lock;
    private final RBucket<String> counter;

    Storm(RedissonClient client, String name, String key) {
        lock = client.getLock(name);
        counter = client.getBucket(key, StringCodec.INSTANCE);
    }

    /** Enters n times on this thread, however long that takes. */
    long rounds(long n) {
        for (long i = 0; i < n; i++) {
            lock.lock();
            section();
        }
        return n;
    }

    /** Enters as often as it can on so many threads; returns how often that was. */
    long run(long millis, int workers) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        ExecutorService pool = Executors.newFixedThreadPool(workers);
        List<Callable<Long>> work = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            work.add(() -> until(end));
        }
        long sections = 0;
        for (Future<Long> f : pool.invokeAll(work)) {
            sections += f.get();
        }
        pool.shutdown();
        return sections;
    }

    private long until(long end) throws InterruptedException {
        long sections = 0;
        for (long left; (left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) > 0; ) {
            if (lock.tryLock(left, -1, TimeUnit.MILLISECONDS)) {
                section();
                sections++;
            }
        }
        return sections;
    }

    private void section() {
        try {
            String v = counter.get();
            counter.set(Long.toString(v == null ? 1 : Long.parseLong(v) + 1));
        } finally {
            lock.unlock();
        }
    }
}
