package bench;

import java.util.Map;

/** The fields of wire.Job that matter to this performer. */
final class Job {
    String work;
    String addr;
    String prefix;
    int process;
    double seconds;
    double warmup;
    int inFlight;
    boolean async;
    int waiters;
    String guard;
    Map<String, Integer> knobs;

    int knob(String name, int standard) {
        return knobs == null ? standard : knobs.getOrDefault(name, standard);
    }
}
