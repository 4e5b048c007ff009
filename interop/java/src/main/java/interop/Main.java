package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A Redisson client that does what it is told on its standard input, one JSON
 * object per line, and answers on its standard output, one object per line.
 *
 * <pre>
 *   java -cp ... interop.Main redis://127.0.0.1:6379 watchdogMillis
 *   &lt; {"ready":true,"uuid":"...","jar":"redisson-4.7.0.jar"}
 *   &gt; {"id":1,"thread":"alice","cmd":"tryLock","name":"order:42","wait":100,"lease":5000}
 *   &lt; {"id":1,"ok":true,"value":true}
 *   &lt; {"id":2,"ok":false,"error":"IllegalMonitorStateException","message":"..."}
 * </pre>
 *
 * Redisson knows a lock's owner by its thread. Each request names a thread, and
 * each name is one real Java thread for as long as the process lives: requests of
 * one name run in order, others side by side, so a waiting lock() blocks nobody
 * else. The end of the input ends the process, without unlocking anything.
 */
public final class Main {
    private static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
    private static PrintStream out;

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        // Whatever a library prints must not look like an answer.
        out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);

        RedissonClient client = connect(args[0], Long.parseLong(args[1]));
        Commands commands = new Commands(client);
        String jar = Redisson.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        answer(new Line().put("ready", true).put("uuid", client.getId()).put("jar", jar.substring(jar.lastIndexOf('/') + 1)));

        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String text; (text = in.readLine()) != null; ) {
            Line request = Line.parse(text);
            threads.computeIfAbsent(String.valueOf(request.text("thread")), Main::thread).execute(() -> answer(run(commands, request)));
        }
        Runtime.getRuntime().halt(0);
    }

    private static RedissonClient connect(String address, long watchdog) {
        Config config = new Config();
        config.setLockWatchdogTimeout(watchdog);
        config.setCodec(StringCodec.INSTANCE);
        config.setNettyThreads(4);
        config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(4).setConnectionPoolSize(24);
        return Redisson.create(config);
    }

    private static Line run(Commands commands, Line request) {
        Line reply = new Line().put("id", request.number("id", 0));
        try {
            return reply.put("ok", true).put("value", commands.run(request));
        } catch (Exception e) {
            return reply.put("ok", false).put("error", e.getClass().getSimpleName()).put("message", String.valueOf(e.getMessage()));
        }
    }

    private static void answer(Line line) {
        synchronized (Main.class) {
            out.println(line);
        }
    }

    private static ExecutorService thread(String name) {
        return Executors.newSingleThreadExecutor(r -> {
            Thread t = new Thread(r, name);
            t.setDaemon(true);
            return t;
        });
    }
}
