package io.millrace.launcher.alarm;

import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The alarms that the launcher detects: workers that die repeatedly, a rejected reload, and a lost connection to the
 * fleet. Not thread-safe.
 */
public final class LauncherAlarms {
    private final LongSupplier restarts;
    private final Supplier<ProxyStatus.@Nullable LastReload> lastReload;
    private final Supplier<String> configName;
    private final Supplier<List<Alarm>> fleet;
    private final CrashLoop crashes = new CrashLoop();

    /**
     * Creates the detection.
     *
     * @param restarts returns the number of dead workers that were replaced
     * @param lastReload returns the result of the last reload; null before the first
     * @param configName returns the name of the configuration, such as its file
     * @param fleet returns the alarms of the fleet
     */
    public LauncherAlarms(
            LongSupplier restarts,
            Supplier<ProxyStatus.@Nullable LastReload> lastReload,
            Supplier<String> configName,
            Supplier<List<Alarm>> fleet) {
        this.fleet = fleet;
        this.restarts = restarts;
        this.lastReload = lastReload;
        this.configName = configName;
    }

    /** Returns the conditions that hold now. */
    List<Alarm> alarms(long nowNanos) {
        List<Alarm> alarms = new ArrayList<>();
        int deaths = crashes.update(restarts.getAsLong(), nowNanos);
        if (deaths > 0) {
            alarms.add(new Alarm(
                    AlarmKind.CRASH_LOOP,
                    "worker",
                    (deaths == 1 ? "1 worker" : deaths + " workers")
                            + " died within 5 minutes; the program log (journalctl -u millrace, or standard error)"
                            + " has the causes",
                    -1));
        }
        ProxyStatus.LastReload last = lastReload.get();
        if (last != null && !last.ok()) {
            String problem =
                    last.problems().isEmpty() ? "" : ": " + last.problems().get(0);
            alarms.add(new Alarm(
                    AlarmKind.CONFIG_REJECTED,
                    configName.get(),
                    "the reload at " + last.at() + " was rejected" + problem,
                    -1));
        }
        alarms.addAll(fleet.get());
        return alarms;
    }
}
