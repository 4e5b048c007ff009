package bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs the same thing on a number of threads. */
final class Threads implements AutoCloseable {
    private final ExecutorService pool;
    private final int number;

    Threads(int number) {
        this.number = number;
        pool = Executors.newFixedThreadPool(number);
    }

    /** What each of the threads does until the measure is over. */
    interface Loop {
        void run(Measure measure, int thread) throws Exception;
    }

    /** Runs the loop on all threads for so long, see Measure, and returns when they are at rest. */
    Sample run(double seconds, double untimed, Loop loop) throws Exception {
        List<Future<?>> running = new ArrayList<>();
        Measure measure = new Measure(seconds, untimed);
        for (int i = 0; i < number; i++) {
            int thread = i;
            Callable<Void> one = () -> {
                loop.run(measure, thread);
                return null;
            };
            running.add(pool.submit(one));
        }
        measure.await();
        for (Future<?> f : running) {
            f.get();
        }
        return measure.sample();
    }

    @Override
    public void close() {
        pool.shutdown();
    }
}
