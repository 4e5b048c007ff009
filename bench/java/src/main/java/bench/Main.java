package bench;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Redisson's performer. It speaks the protocol of bench/wire: a job on a line of
 * standard input, "ready" on standard output when it is warmed up, "go" on the
 * next line, then a sample. It lives over many jobs, since a JVM is slow at first,
 * and ends with its input.
 */
public final class Main {
    private static final Gson gson = new Gson();

    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final PrintStream out;
    private final Clients clients = new Clients();
    private final Warmth warmth = new Warmth(Double.parseDouble(System.getProperty("bench.warmup", "0")));

    private Main(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        // Whatever a library prints must not look like an answer.
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);
        new Main(out).serve();
        // A client's threads would keep the process, and nothing is left to tidy up.
        Runtime.getRuntime().halt(0);
    }

    private void serve() throws IOException {
        for (String line; (line = in.readLine()) != null; ) {
            Job job = gson.fromJson(line, Job.class);
            try {
                answer(work(job).perform(this::start));
            } catch (Exception e) {
                answer(Map.of("error", "redisson " + job.work + ": " + e));
            }
        }
    }

    private Work work(Job job) throws Exception {
        switch (job.work) {
            case "uncontended":
                if (job.async) {
                    return new Uncontended(clients.of(job), job, warmth);
                }
                return new Blocking(clients.of(job), job, warmth);
            case "contended":
                return new Contended(clients.of(job), job, warmth);
            default:
                throw new IllegalArgumentException("no such work");
        }
    }

    /** Says ready, and returns when the conductor says go. */
    private void start() throws IOException {
        answer(Map.of("ready", true));
        String line = in.readLine();
        if (line == null || !gson.fromJson(line, Go.class).go) {
            throw new IOException("the conductor did not say go");
        }
    }

    private void answer(Object o) {
        out.println(gson.toJson(o));
    }

    private static final class Go {
        boolean go;
    }

    /** What one job asks for. */
    interface Work {
        Sample perform(Start start) throws Exception;
    }

    /** Is called when the work is warmed up and at rest. */
    interface Start {
        void run() throws IOException;
    }
}
