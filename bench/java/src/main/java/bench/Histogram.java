package bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** wire.Histogram: the same buckets, so that the conductor can merge them. */
final class Histogram {
    private static final int SUB_BITS = 7;

    private final AtomicLongArray counts = new AtomicLongArray((64 - SUB_BITS) << SUB_BITS);
    private final LongAdder sum = new LongAdder();
    private final LongAccumulator min = new LongAccumulator(Math::min, Long.MAX_VALUE);
    private final LongAccumulator max = new LongAccumulator(Math::max, 0);

    void add(long nanos) {
        counts.incrementAndGet(index(nanos));
        sum.add(nanos);
        min.accumulate(nanos);
        max.accumulate(nanos);
    }

    private static int index(long v) {
        if (v < 1 << SUB_BITS) {
            return (int) v;
        }
        int e = 63 - Long.numberOfLeadingZeros(v) - SUB_BITS;
        return (e << SUB_BITS) + (int) (v >> e);
    }

    /** The form that the conductor reads. Nobody may be adding. */
    Map<String, Object> toJson() {
        List<long[]> buckets = new ArrayList<>();
        long count = 0;
        for (int i = 0; i < counts.length(); i++) {
            long n = counts.get(i);
            if (n > 0) {
                buckets.add(new long[] {i, n});
                count += n;
            }
        }
        Map<String, Object> json = new HashMap<>();
        json.put("count", count);
        json.put("sum", sum.sum());
        json.put("min", count == 0 ? 0 : min.get());
        json.put("max", max.get());
        json.put("buckets", buckets);
        return json;
    }
}
