package bench;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/**
 * One client per server and setting, as a program would have.
 *
 * <p>Pools of 8 to 256 connections with 1 to 4 netty threads, 1024 in flight on two
 * cores: 64 connections, Redisson's default, and 2 threads were among the best, and
 * most of the others are within the noise of it.
 */
final class Clients {
    private final Map<String, RedissonClient> clients = new HashMap<>();

    RedissonClient of(Job job) {
        int pool = job.knob("pool", 64);
        int netty = job.knob("netty", 2);
        boolean cache = job.knob("scriptCache", 1) == 1;
        return clients.computeIfAbsent(job.addr + " " + pool + " " + netty + " " + cache, k -> connect(job.addr, pool, netty, cache));
    }

    private static RedissonClient connect(String addr, int pool, int netty, boolean cache) {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setNettyThreads(netty);
        config.setUseScriptCache(cache);
        config.useSingleServer()
                .setAddress("redis://" + addr)
                .setConnectionMinimumIdleSize(pool)
                .setConnectionPoolSize(pool)
                .setPingConnectionInterval(0) // this client rests while others are measured
                // Who waits for a connection of the pool is late, and neither a failure
                // nor to be sent back to the end of the queue too soon.
                .setTimeout(60_000)
                .setRetryAttempts(60)
                .setRetryDelay(new ConstantDelay(Duration.ofSeconds(5)));
        return Redisson.create(config);
    }
}
