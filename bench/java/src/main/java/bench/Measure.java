package bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;

/**
 * One stretch of time in which finished operations count. What is finished after
 * its end was served, but is neither counted nor timed.
 */
final class Measure {
    private static final OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Histogram latency = new Histogram();
    private final LongAdder ops = new LongAdder();
    private final LongAdder served = new LongAdder();
    private final long began = System.nanoTime();
    private final long cpuBegan = os.getProcessCpuTime();
    private final long end;
    private final long timed;
    private long cpu;

    /** Begins now. Of what is finished within the first share untimed, the latency is not kept. */
    Measure(double seconds, double untimed) {
        end = began + (long) (seconds * 1e9);
        timed = began + (long) (seconds * untimed * 1e9);
    }

    /** Counts an operation that was asked for and finished at these moments. */
    void done(long asked, long finished) {
        served.increment();
        if (counts(finished)) {
            ops.increment();
            if (finished - timed >= 0) {
                latency.add(finished - asked);
            }
        }
    }

    /** Whether what was finished at that moment is counted. */
    boolean counts(long finished) {
        return finished - end < 0;
    }

    boolean over() {
        return System.nanoTime() - end >= 0;
    }

    /** Sleeps until the end, and reads the CPU there. */
    void await() throws InterruptedException {
        for (long left; (left = end - System.nanoTime()) > 0; ) {
            Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
        }
        cpu = os.getProcessCpuTime() - cpuBegan;
    }

    /** The sample, when everything has been served. */
    Sample sample() {
        Sample s = new Sample();
        s.ops = ops.sum();
        s.served = served.sum();
        s.seconds = (end - began) / 1e9;
        s.latency = latency.toJson();
        s.cpuSeconds = cpu / 1e9;
        return s;
    }
}
