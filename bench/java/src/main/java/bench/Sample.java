package bench;

import java.util.HashMap;
import java.util.Map;

/** wire.Sample. What a JVM cannot tell in the same terms as Go is -1. */
final class Sample {
    long ops;
    double seconds;
    long served;
    Map<String, Object> latency;
    double cpuSeconds;
    long allocs = -1;
    long allocBytes = -1;
    long heapBytes = -1;
    int goroutines = -1;
    final Map<String, Double> extra = new HashMap<>();
}
