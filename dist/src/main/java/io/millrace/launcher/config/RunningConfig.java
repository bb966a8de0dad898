package io.millrace.launcher.config;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerCommand;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.launcher.supervise.ServingWorker;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.config.ConfigControl.Setting;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ListenerSockets;
import io.millrace.worker.control.SettingChange;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration that runs, and how another takes its place: settings that the worker can take over at once go to it;
 * one that needs a new worker brings a new worker; what only a new launcher can change is said to wait for it.
 *
 * <p>Thread-safe, save that {@link #apply} and {@link #restart} are called on one thread, that of {@link ConfigChanges}.
 */
public final class RunningConfig {
    private static final Logger LOG = LoggerFactory.getLogger(RunningConfig.class);

    private static final String MAY_HAVE_IT =
            "; it may have taken the change over, or do so yet, until millctl server restart replaces it";

    /**
     * What holds now. Immutable.
     *
     * @param config all of it
     * @param places where keys were set
     * @param source what it was read from, the overlay included
     * @param plan what workers are started with
     * @param loadedAt when it began to hold
     * @param under for each key of the overlay what the file gives; without an entry it gives none
     * @param rolledBackTo number of the entry of the history that runs in place of the file; 0 for the file
     */
    record Current(
            ProxyConfig config,
            Map<String, SettingPlace> places,
            ConfigSource source,
            WorkerPlan plan,
            Instant loadedAt,
            Map<String, String> under,
            int rolledBackTo) {}

    private final ConfigReader reader;
    private final LauncherContext workplace;
    private final ServingWorker worker;
    private final ConfigHistory history;
    private volatile @Nullable Current current;
    private volatile Map<String, String> atLaunch = Map.of();
    private volatile int socketsPerAddress;
    private volatile ProxyStatus.@Nullable LastReload lastReload;

    /** A configuration that has not begun to run; {@code reader} reads it at every reload. */
    public RunningConfig(ConfigReader reader, LauncherContext workplace, ServingWorker worker) {
        this.reader = reader;
        this.workplace = workplace;
        this.worker = worker;
        history = new ConfigHistory(workplace.state().state().resolve("config-history"));
    }

    /** What {@link #serve} will serve. */
    public void begin(ConfigReader.Reading reading, WorkerPlan plan) {
        ProxyConfig config = reading.config();
        current = new Current(config, reading.result().places(), reading.source(), plan, Instant.now(), Map.of(), 0);
        socketsPerAddress = LauncherContext.socketsPerAddress(config);
        atLaunch = SettingTexts.ofLauncher(config);
        history.begin(reading.source(), config);
    }

    /** Starts the first worker. */
    public void serve() {
        worker.start(running().plan(), drainNanos());
    }

    Current running() {
        Current running = current;
        if (running == null) {
            throw new IllegalStateException("not started");
        }
        return running;
    }

    /** Whether a configuration runs. */
    public boolean hasBegun() {
        return current != null;
    }

    /** The configuration that runs. Throws IllegalStateException before one does. */
    public ProxyConfig config() {
        return running().config();
    }

    /** When the configuration that runs was read. */
    public Instant loadedAt() {
        return running().loadedAt();
    }

    /** Reads the configuration at a reload. */
    public ConfigReader reader() {
        return reader;
    }

    ConfigHistory history() {
        return history;
    }

    /** The text that the launcher was started with of each key that only its start can change. */
    Map<String, String> atLaunch() {
        return atLaunch;
    }

    /** A word that no other launcher of this machine has: each has a state directory of its own. */
    String instance() {
        return Integer.toHexString(workplace.state().state().toString().hashCode());
    }

    /** What the operator calls it. */
    public String name() {
        return reader.name();
    }

    /** How long a replaced worker may finish its requests, in nanoseconds. */
    public long drainNanos() {
        return running().config().timeouts().drainNanos();
    }

    /**
     * Puts a new worker with what runs in the place of the one that serves. Blocks until it does.
     *
     * @throws CompletionException when it does not come up; then the old one serves on
     */
    void restart() {
        worker.roll(running().plan(), drainNanos()).join();
    }

    /** How workers are started now. */
    public WorkerCommand command() {
        return workplace.starter(config());
    }

    /** With the ports they got. */
    List<ListenerSockets> listeners() {
        Current running = running();
        return running.plan().sockets() == null
                ? LauncherContext.unbound(running.config())
                : running.plan().listeners();
    }

    /** The lines to print once the first worker serves. */
    public StartMessage startMessage(boolean demo) {
        return new StartMessage(
                workplace.complete(config()),
                reader.name(),
                listeners(),
                workplace.adminSocket(config()),
                running().plan().sockets() != null,
                demo);
    }

    /** What the last reload came to, null before the first. */
    public ProxyStatus.@Nullable LastReload lastReload() {
        return lastReload;
    }

    /** Records the result of a reload. */
    public void lastReload(ProxyStatus.LastReload report) {
        lastReload = report;
    }

    /**
     * Applies a configuration wholly or not at all. Blocks until the worker, or a new one, has it.
     *
     * @param by for the history
     */
    ReloadReport apply(ConfigTarget target, String by) {
        ProxyConfig changed = target.config();
        if (changed == null) {
            return new ReloadReport(false, List.of(), target.problems(), target.notes());
        }
        Current running = running();
        List<ConfigChange> changes = ConfigChange.between(running.config(), changed);
        try {
            ConfigSource source = pinned(target.source(), changed);
            List<Setting> settings = new ArrayList<>();
            WorkerPlan plan = running.plan().with(source);
            if (changes.stream().anyMatch(RunningConfig::needsNewWorker)) {
                plan = roll(running, changed, source, target.source());
                changes.forEach(change -> settings.add(setting(change, costOf(change))));
            } else if (!changes.isEmpty()) {
                @Nullable List<SettingChange> answers = handOver(source);
                if (answers == null) {
                    plan = rollLate(running, changed, source, target.source());
                    changes.forEach(change -> settings.add(late(change)));
                } else if (hadAnother(answers, changes)) {
                    plan = roll(running, changed, source, target.source());
                    changes.forEach(change -> settings.add(setting(change, costOf(change))));
                } else {
                    settings.addAll(handedOver(answers, changes));
                }
            }
            if (settings.stream().anyMatch(setting -> setting.result() == Result.REJECTED)) {
                return new ReloadReport(false, settings, List.of(), target.notes());
            }
            current = new Current(
                    changed,
                    target.places(),
                    target.source(),
                    plan,
                    Instant.now(),
                    target.under(),
                    target.rolledBackTo());
            List<String> notes = new ArrayList<>(target.notes());
            history.record(target.source(), changed, by, changes, notes);
            return new ReloadReport(true, List.copyOf(settings), List.of(), notes);
        } catch (LaunchException e) {
            return rejected(changes, e.getMessage(), target.notes());
        } catch (CompletionException e) {
            return rejected(changes, causeOf(e).getMessage(), target.notes());
        }
    }

    /** What the worker says of each setting; null when it has not said it in time, and may have taken them over or not. */
    private @Nullable List<SettingChange> handOver(ConfigSource source) {
        try {
            return worker.reload(source).join();
        } catch (CompletionException e) {
            if (causeOf(e) instanceof TimeoutException) {
                LOG.warn("{}; another one takes its place", causeOf(e).getMessage());
                return null;
            }
            throw e;
        }
    }

    private static Throwable causeOf(Exception e) {
        return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    }

    /** In the place of a worker that owes an answer; where none comes up, that one goes back to what ran. */
    private WorkerPlan rollLate(Current running, ProxyConfig changed, ConfigSource source, ConfigSource asked) {
        try {
            return roll(running, changed, source, asked);
        } catch (LaunchException | CompletionException e) {
            String reason = "the worker did not answer in time, and no other came up: "
                    + causeOf(e).getMessage();
            throw new CompletionException(new IOException(reason + (goesBack(running) ? "" : MAY_HAVE_IT), e));
        }
    }

    /** Whether what serves has {@code running} for certain: a worker that was restarted has it, and is asked nothing. */
    private boolean goesBack(Current running) {
        try {
            worker.reload(running.plan().config()).join();
            return true;
        } catch (CompletionException e) {
            return !(causeOf(e) instanceof TimeoutException);
        }
    }

    /** What {@link #apply} would answer, were nothing to go wrong. */
    ReloadReport plan(ConfigTarget target) {
        ProxyConfig changed = target.config();
        if (changed == null) {
            return new ReloadReport(false, List.of(), target.problems(), target.notes());
        }
        List<Setting> settings = new ArrayList<>();
        for (ConfigChange change : ConfigChange.between(config(), changed)) {
            settings.add(setting(change, costOf(change)));
        }
        List<String> notes = new ArrayList<>(target.notes());
        if (settings.stream().anyMatch(setting -> setting.result() == Result.ROLLED)) {
            notes.add(durationOfRoll(changed));
        }
        return new ReloadReport(true, settings, target.problems(), notes);
    }

    /** How long a roll to {@code changed} takes: as the last one did, else its limit. */
    private String durationOfRoll(ProxyConfig changed) {
        String said = "a new worker takes over, and the old one serves until then: ";
        OptionalLong lastNanos = worker.lastRollNanos();
        if (lastNanos.isPresent()) {
            return said + String.format(Locale.ROOT, "the last roll took %.1f s", lastNanos.getAsLong() / 1e9);
        }
        Duration limit = changed.worker().warmUpLimit();
        return said
                + (limit.isZero()
                        ? "without warm-up, in a few seconds"
                        : "its warm-up takes at most " + limit.toSeconds() + " s (worker.warm_up_limit)");
    }

    private Result costOf(ConfigChange change) {
        if (needsNewLauncher(change)) {
            return Result.RELAUNCH;
        }
        return needsNewWorker(change) ? Result.ROLLED : Result.APPLIED;
    }

    private static boolean needsNewWorker(ConfigChange change) {
        return change.apply() == ConfigKey.Apply.ROLLING;
    }

    private boolean needsNewLauncher(ConfigChange change) {
        return isOfLauncher(change) && !isAtLaunch(change);
    }

    private static boolean isOfLauncher(ConfigChange change) {
        return change.apply() == ConfigKey.Apply.RELAUNCH;
    }

    /** Whether a value that was to wait for another launcher goes back to what this one has. */
    private boolean isAtLaunch(ConfigChange change) {
        return String.valueOf(change.after()).equals(String.valueOf(atLaunch.get(change.key())));
    }

    /** {@code source} with the settings held that only another launcher may change: also where that serves, which workers keep clients from. */
    private ConfigSource pinned(ConfigSource source, ProxyConfig changed) {
        Map<String, String> overlay = new HashMap<>(source.overlay());
        Map<String, String> wanted = SettingTexts.ofLauncher(changed);
        atLaunch.forEach((key, held) -> {
            if (!held.equals(wanted.get(key))) {
                overlay.put(key, held);
            }
        });
        return source.withOverlay(overlay);
    }

    /** @param source of {@code changed} for a worker, {@code asked} with what only another launcher may change held */
    private WorkerPlan roll(Current running, ProxyConfig changed, ConfigSource source, ConfigSource asked)
            throws LaunchException {
        // The command line has settings, too: how often to beat goes with this launcher's patience.
        ProxyConfig pinned = source.equals(asked) ? changed : source.load().config();
        if (pinned == null) {
            throw new LaunchException("it does not go with the settings that need a new launcher");
        }
        ListeningSockets held = running.plan().sockets();
        ListeningSockets sockets =
                held == null ? null : held.with(LauncherContext.addresses(changed), socketsPerAddress);
        WorkerPlan plan = new WorkerPlan(source, workplace.starter(pinned), sockets);
        worker.roll(plan, changed.timeouts().drainNanos()).join();
        return plan;
    }

    /**
     * Whether the worker refuses what has not changed here: then it did not have what runs, being an earlier launcher's whose
     * successor did not come up, and would be given the rest never.
     */
    private static boolean hadAnother(List<SettingChange> answers, List<ConfigChange> changes) {
        return answers.stream()
                .filter(answer ->
                        answer.result().equals("rejected") && !answer.key().equals("*"))
                .anyMatch(answer ->
                        changes.stream().noneMatch(change -> change.key().equals(answer.key())));
    }

    private List<Setting> handedOver(List<SettingChange> answers, List<ConfigChange> changes) {
        Map<String, SettingChange> byKey = new HashMap<>();
        for (SettingChange answer : answers) {
            byKey.put(answer.key(), answer);
        }
        List<Setting> settings = new ArrayList<>();
        for (ConfigChange change : changes) {
            SettingChange answer = byKey.getOrDefault(change.key(), byKey.get("*"));
            if (answer == null || isOfLauncher(change)) {
                settings.add(setting(change, costOf(change)));
            } else {
                Result result = Result.valueOf(answer.result().toUpperCase(Locale.ROOT));
                String detail = answer.detail();
                settings.add(detail.isEmpty() ? setting(change, result) : new Setting(change.key(), result, detail));
            }
        }
        return settings;
    }

    private Setting setting(ConfigChange change, Result result) {
        String detail = change.before() == null && change.after() == null
                ? "changed"
                : "was " + value(change.before()) + ", is " + value(change.after());
        if (result == Result.RELAUNCH) {
            detail += ", from the next start of the launcher on";
        }
        return new Setting(change.key(), result, detail);
    }

    /** What a worker that did not answer was handed: the new one has it. */
    private Setting late(ConfigChange change) {
        Result result = costOf(change) == Result.RELAUNCH ? Result.RELAUNCH : Result.ROLLED;
        Setting made = setting(change, result);
        return new Setting(made.key(), result, made.detail() + "; the worker did not answer in time, a new one has it");
    }

    private static String value(@Nullable String text) {
        return text == null ? "not set" : text;
    }

    private static ReloadReport rejected(List<ConfigChange> changes, @Nullable String reason, List<String> notes) {
        LOG.error("the changed configuration is not used: {}", reason);
        String detail = String.valueOf(reason);
        List<Setting> settings = changes.stream()
                .map(change -> new Setting(change.key(), Result.REJECTED, detail))
                .toList();
        return new ReloadReport(false, settings, List.of(), notes);
    }
}
