package interop;

import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The Java program of docs/REDISSON.md. */
public final class Guide {
    private Guide() {
    }

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(args[0]);
        RedissonClient redisson = Redisson.create(config);

        RLock lock = redisson.getLock("stock:42:lock");
        RBucket<String> stock = redisson.getBucket("stock:42", StringCodec.INSTANCE);
        for (int i = 0; i < 100; i++) {
            if (!lock.tryLock(30, TimeUnit.SECONDS)) { // no lease: the watchdog renews
                throw new IllegalStateException("busy");
            }
            try {
                stock.set(Long.toString(Long.parseLong(stock.get()) - 1));
            } finally {
                lock.unlock();
            }
        }
        redisson.shutdown();
    }
}
