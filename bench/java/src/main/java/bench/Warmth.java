package bench;

import java.util.HashMap;
import java.util.Map;

/**
 * How long a kind of work has run in this JVM. The compiler needs seconds of it
 * before the figures are Redisson's and not the interpreter's, but only once.
 */
final class Warmth {
    private final double wanted;
    private final Map<String, Double> had = new HashMap<>();

    Warmth(double wanted) {
        this.wanted = wanted;
    }

    /** Returns how long this job must warm up, and takes it as done. */
    double owed(Job job) {
        String kind = job.work + (job.async ? " async" : "");
        double before = had.getOrDefault(kind, 0.0);
        double owed = Math.max(job.warmup, wanted - before);
        had.put(kind, before + owed);
        return owed;
    }
}
