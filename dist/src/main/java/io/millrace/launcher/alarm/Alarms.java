package io.millrace.launcher.alarm;

import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmSource;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The alarms of launcher and worker. Every {@value #PERIOD_SECONDS} seconds, a thread asks the worker which alarm
 * conditions it detects. Each change becomes a line in the program log, a run of {@code alarms.exec.command}, and a
 * message to {@code alarms.syslog}. It also becomes an event, except a raised alarm whose cause is already recorded as
 * an event.
 *
 * <p>Thread-safe.
 */
public final class Alarms implements AlarmSource, AutoCloseable {
    /** Time between two checks. */
    public static final long PERIOD_SECONDS = 5;

    private static final Logger LOG = LoggerFactory.getLogger(Alarms.class);

    /** Reads the alarms of a worker. Blocks. */
    @FunctionalInterface
    public interface Reader {
        /** Returns the worker's answer to {@code GET /v1/alarms}. */
        String read(Path socket) throws IOException, InterruptedException;
    }

    private final Supplier<AlarmConfig> settings;
    private final EventSink events;
    private final AlarmBoard board = new AlarmBoard();
    private final ActionQueue command;
    private final ActionQueue messages;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread created = new Thread(task, "launcher-alarms");
        created.setDaemon(true);
        return created;
    });

    /**
     * Creates the alarms. {@link #start} begins the checks.
     *
     * @param settings returns the settings in force
     * @param state the state directory: working directory of the command
     * @param sink receives the events of changes
     */
    public Alarms(Supplier<AlarmConfig> settings, Path state, EventSink sink) {
        this.settings = settings;
        this.events = sink;
        command = new ActionQueue(
                "exec", new AlarmCommand(settings, state, System::nanoTime, TimeUnit.NANOSECONDS::sleep));
        messages = new ActionQueue("syslog", new AlarmMessages(settings, TimeUnit.NANOSECONDS::sleep));
    }

    /**
     * Begins the checks.
     *
     * @param launcher the alarms that the launcher detects
     * @param reader reads the alarms of a worker
     * @param serving returns the admin socket of the serving worker; null while there is none
     */
    public void start(LauncherAlarms launcher, Reader reader, Supplier<@Nullable Path> serving) {
        var unused = thread.scheduleWithFixedDelay(
                () -> checkSafely(launcher, reader, serving), 0, PERIOD_SECONDS, TimeUnit.SECONDS);
    }

    private void checkSafely(LauncherAlarms launcher, Reader reader, Supplier<@Nullable Path> serving) {
        try {
            check(launcher.alarms(System.nanoTime()), ofWorker(reader, serving.get()), System.currentTimeMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("a check of the alarms failed; the next one follows", e);
        }
    }

    /** Returns the alarms of the worker; null if no worker serves, or the worker does not answer. */
    private static @Nullable List<Alarm> ofWorker(Reader reader, @Nullable Path socket) throws InterruptedException {
        if (socket == null) {
            return null;
        }
        try {
            return WorkerAlarms.parse(reader.read(socket));
        } catch (IOException e) {
            LOG.debug("no alarms of the worker at {}", socket, e);
            return null;
        }
    }

    /**
     * Compares the alarms with the conditions that hold now, and reports each change.
     *
     * @param ofWorker null if no worker answered
     */
    void check(List<Alarm> ofLauncher, @Nullable List<Alarm> ofWorker, long nowMillis) {
        board.update(ofLauncher, ofWorker, nowMillis).forEach(this::report);
    }

    private void report(AlarmChange change) {
        Alarm alarm = change.alarm();
        if (change.isRaised()) {
            LOG.warn("alarm raised: {}: {}: {}", alarm.kind().word(), alarm.subject(), alarm.text());
        } else {
            LOG.info("alarm cleared: {}: {}", alarm.kind().word(), alarm.subject());
        }
        if (!change.isRaised() || !alarm.kind().hasEventOfCause()) {
            events.record(new Event(
                    change.atMillis(),
                    change.isRaised() ? EventKind.ALARM_RAISED : EventKind.ALARM_CLEARED,
                    alarm.subject(),
                    alarm.kind().word() + ": " + alarm.text()));
        }
        AlarmConfig current = settings.get();
        if (current.command() != null) {
            command.add(change);
        }
        if (current.syslog() != null) {
            messages.add(change);
        }
    }

    @Override
    public List<Alarm> alarms() {
        return board.alarms();
    }

    /** Returns the alarms by kind, and the numbers of actions, in the text format of Prometheus. */
    public String prometheusText() {
        MetricFamily family = MetricFamily.ALARM_ACTIONS;
        StringBuilder text = new StringBuilder(board.prometheusText());
        text.append("# HELP ").append(family.metricName()).append(' ').append(family.description());
        text.append("\n# TYPE ").append(family.metricName()).append(" counter\n");
        command.appendMetric(text);
        messages.appendMetric(text);
        return text.toString();
    }

    /** Ends the checks and the running actions. Raised alarms are not cleared: the next launcher raises them again. */
    @Override
    public void close() {
        thread.shutdownNow();
        command.close();
        messages.close();
    }
}
