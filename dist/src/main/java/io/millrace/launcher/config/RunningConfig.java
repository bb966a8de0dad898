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
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.observe.event.EventSink;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration in force. A change is sent to the running worker, which applies some settings at run time. Other
 * settings need a roll: a new worker process replaces the running one. Settings that need a restart of the launcher are
 * only reported as pending.
 *
 * <p>Thread-safe, except {@link #apply} and {@link #restart}, which are confined to the thread of
 * {@link ConfigChanges}.
 */
public final class RunningConfig {
    private static final Logger LOG = LoggerFactory.getLogger(RunningConfig.class);

    /** Ending of the message about a change that the worker may have applied. */
    private static final String MAY_BE_APPLIED =
            "; the worker may have applied the change, or may still apply it: replace the worker with millctl server restart";

    /**
     * The state of the configuration in force. Immutable.
     *
     * @param config all settings
     * @param places the place where each key was set
     * @param source the texts of the configuration, including the overlay: the values that {@code millctl config set}
     *     changed without saving them to the file
     * @param plan the configuration, command and sockets with which workers are started
     * @param loadedAt time at which the configuration came into force
     * @param overlaidValues for each key of the overlay, its value without the overlay; a key that has no such value is
     *     missing
     * @param rolledBackTo number of the history entry in force after a rollback; 0 if the file is in force
     */
    record Current(
            ProxyConfig config,
            Map<String, SettingPlace> places,
            ConfigSource source,
            WorkerPlan plan,
            Instant loadedAt,
            Map<String, String> overlaidValues,
            int rolledBackTo) {
        /** Returns a copy with another plan for workers. */
        Current with(WorkerPlan changed) {
            return new Current(config, places, source, changed, loadedAt, overlaidValues, rolledBackTo);
        }
    }

    private final ConfigReader reader;
    private final LauncherContext launcherContext;
    private final ServingWorker worker;
    private final ConfigHistory history;
    /** Calls the receivers of applied configurations, and returns their notes. */
    private volatile Function<ProxyConfig, List<String>> receivers = config -> List.of();

    private volatile EventSink events = EventSink.NONE;
    private volatile @Nullable Current current;
    private volatile Map<String, String> atLaunch = Map.of();
    private volatile ProxyStatus.@Nullable LastReload lastReload;

    /** Creates an object without a configuration in force. At every reload, {@code reader} reads the configuration. */
    public RunningConfig(ConfigReader reader, LauncherContext launcherContext, ServingWorker worker) {
        this.reader = reader;
        this.launcherContext = launcherContext;
        this.worker = worker;
        history = new ConfigHistory(launcherContext.state().state().resolve("config-history"));
    }

    /** Puts a configuration in force. {@link #serve} starts the first worker with it. */
    public void begin(ConfigReader.Reading reading, WorkerPlan plan) {
        ProxyConfig config = reading.config();
        current = new Current(config, reading.result().places(), reading.source(), plan, Instant.now(), Map.of(), 0);
        atLaunch = SettingTexts.ofLauncher(config);
        history.begin(reading.source(), config);
    }

    /**
     * Adds a receiver of each configuration that is applied from now on.
     *
     * @param receiver returns notes for the report
     */
    public void onApplied(Function<ProxyConfig, List<String>> receiver) {
        Function<ProxyConfig, List<String>> before = receivers;
        receivers = config -> {
            List<String> notes = new ArrayList<>(before.apply(config));
            notes.addAll(receiver.apply(config));
            return notes;
        };
    }

    /** Sets the receiver of events about applied and rejected configurations. */
    public void events(EventSink sink) {
        events = sink;
    }

    /** Starts the first worker. */
    public void serve() {
        worker.start(current().plan(), drainNanos());
    }

    /** Returns the configuration in force. Throws IllegalStateException before {@link #begin}. */
    Current current() {
        Current running = current;
        if (running == null) {
            throw new IllegalStateException("no configuration is in force yet");
        }
        return running;
    }

    /** Returns true if a configuration is in force. */
    public boolean hasBegun() {
        return current != null;
    }

    /** The configuration in force. Throws IllegalStateException before {@link #begin}. */
    public ProxyConfig config() {
        return current().config();
    }

    /** Returns the time at which the configuration came into force. */
    public Instant loadedAt() {
        return current().loadedAt();
    }

    /** The reader that reloads use. */
    public ConfigReader reader() {
        return reader;
    }

    ConfigHistory history() {
        return history;
    }

    /** The values of the launcher's own keys at its start. Only a restart of the launcher can change them. */
    Map<String, String> atLaunch() {
        return atLaunch;
    }

    /** An identifier of this launcher on this machine. It is a hash of the path of the state directory. */
    String instance() {
        return Integer.toHexString(launcherContext.state().state().toString().hashCode());
    }

    /** The name of the configuration in messages, such as its file. */
    public String name() {
        return reader.name();
    }

    /** Time limit for a replaced worker to finish its requests, in nanoseconds. */
    public long drainNanos() {
        return current().config().timeouts().drainNanos();
    }

    /**
     * Replaces the worker by a new one with the same configuration. Binds Unix sockets again whose files were deleted.
     * Blocks until the new worker is ready.
     *
     * @throws LaunchException if a socket cannot be bound; the worker is not replaced then
     * @throws CompletionException if the new worker does not become ready; the old one then continues to serve
     */
    void restart() throws LaunchException {
        Current running = current();
        WorkerPlan plan = running.plan();
        ListeningSockets openSockets = plan.sockets();
        if (openSockets != null) {
            plan = plan.with(openSockets.with(LauncherContext.addresses(running.config())));
        }
        worker.roll(plan, drainNanos()).join();
        current = running.with(plan);
    }

    /** The command that starts workers with the configuration in force. */
    public WorkerCommand command() {
        return launcherContext.workerCommand(config());
    }

    /** The listeners, with the port numbers that were bound. */
    List<ListenerSockets> listeners() {
        Current running = current();
        return running.plan().sockets() == null
                ? LauncherContext.unbound(running.config())
                : running.plan().listeners();
    }

    /** The message that is printed when the first worker is ready. */
    public StartMessage startMessage(boolean demo) {
        return new StartMessage(
                launcherContext.withDefaultPaths(config()),
                reader.name(),
                listeners(),
                launcherContext.adminSocket(config()),
                current().plan().sockets() != null,
                demo);
    }

    /** The result of the last reload; null before the first. */
    public ProxyStatus.@Nullable LastReload lastReload() {
        return lastReload;
    }

    /** Records the result of a reload. */
    public void lastReload(ProxyStatus.LastReload report) {
        lastReload = report;
    }

    /**
     * Applies a configuration completely or not at all. Blocks until the running worker or a new one has applied it.
     *
     * @param command the command that is recorded in the history, such as {@code reload}
     * @param caller the client that gave the command, for the event
     */
    ReloadReport apply(ConfigTarget target, String command, AdminCaller caller) {
        ReloadReport report = applyChanges(target, command);
        String who = caller.inWords();
        ConfigEvents.report(report, who.isEmpty() ? command : command + " by " + who, name(), events);
        return report;
    }

    private ReloadReport applyChanges(ConfigTarget target, String by) {
        ProxyConfig changed = target.config();
        if (changed == null) {
            return new ReloadReport(false, List.of(), target.problems(), target.notes());
        }
        Current running = current();
        List<ConfigChange> changes = ConfigChange.between(running.config(), changed);
        try {
            ConfigSource source = pinned(target.source(), changed);
            ProxyConfig pinned = checked(source, target);
            List<Setting> settings = new ArrayList<>();
            WorkerPlan plan = running.plan().with(source);
            if (changes.stream().anyMatch(RunningConfig::needsNewWorker)) {
                plan = roll(running, changed, source, pinned);
                changes.forEach(change -> settings.add(setting(change, resultOf(change))));
            } else if (!changes.isEmpty()) {
                @Nullable List<SettingChange> answers = sendToWorker(source);
                if (answers == null) {
                    plan = rollAfterTimeout(running, changed, source, pinned);
                    changes.forEach(change -> settings.add(afterTimeout(change)));
                } else if (hasOtherConfig(answers, changes)) {
                    plan = roll(running, changed, source, pinned);
                    changes.forEach(change -> settings.add(setting(change, resultOf(change))));
                } else {
                    settings.addAll(outcomes(answers, changes));
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
                    target.overlaidValues(),
                    target.rolledBackTo());
            List<String> notes = new ArrayList<>(target.notes());
            notes.addAll(receivers.apply(changed));
            history.record(target.source(), changed, by, changes, notes);
            return new ReloadReport(true, List.copyOf(settings), List.of(), notes);
        } catch (LaunchException e) {
            return rejected(changes, e.getMessage(), target.notes());
        } catch (CompletionException e) {
            return rejected(changes, causeOf(e).getMessage(), target.notes());
        }
    }

    /**
     * Sends a configuration to the worker, and returns the outcome of each setting. Returns null after a timeout, when
     * it is unknown whether the worker has applied the configuration.
     */
    private @Nullable List<SettingChange> sendToWorker(ConfigSource source) {
        try {
            return worker.reload(source).join();
        } catch (CompletionException e) {
            if (causeOf(e) instanceof TimeoutException) {
                LOG.warn("{}; a new worker replaces it", causeOf(e).getMessage());
                return null;
            }
            throw e;
        }
    }

    private static Throwable causeOf(Exception e) {
        return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    }

    /**
     * Replaces a worker that did not answer. If no new worker becomes ready, sends the previous configuration to the
     * old worker again.
     */
    private WorkerPlan rollAfterTimeout(Current running, ProxyConfig changed, ConfigSource source, ProxyConfig pinned) {
        try {
            return roll(running, changed, source, pinned);
        } catch (LaunchException | CompletionException e) {
            String reason = "the worker did not answer in time, and no new worker could be started: "
                    + causeOf(e).getMessage();
            throw new CompletionException(new IOException(reason + (revertWorker(running) ? "" : MAY_BE_APPLIED), e));
        }
    }

    /**
     * Sends the configuration of {@code running} to the worker again. Returns false if the worker did not answer in
     * time, so that its configuration is unknown. After any other failure, the worker was restarted with
     * {@code running}.
     */
    private boolean revertWorker(Current running) {
        try {
            worker.reload(running.plan().config()).join();
            return true;
        } catch (CompletionException e) {
            return !(causeOf(e) instanceof TimeoutException);
        }
    }

    /** Returns the report that {@link #apply} would return if nothing failed, without applying the configuration. */
    ReloadReport plan(ConfigTarget target) {
        ProxyConfig changed = target.config();
        if (changed == null) {
            return new ReloadReport(false, List.of(), target.problems(), target.notes());
        }
        List<Setting> settings = new ArrayList<>();
        for (ConfigChange change : ConfigChange.between(config(), changed)) {
            settings.add(setting(change, resultOf(change)));
        }
        List<String> notes = new ArrayList<>(target.notes());
        if (settings.stream().anyMatch(setting -> setting.result() == Result.ROLLED)) {
            notes.add(durationOfRoll(changed));
        }
        return new ReloadReport(true, settings, target.problems(), notes);
    }

    /**
     * Returns a note about the expected duration of a roll. This is the duration of the last roll. Before the first
     * roll, it is the warm-up limit.
     */
    private String durationOfRoll(ProxyConfig changed) {
        String prefix = "a new worker replaces the old one, which serves in the meantime: ";
        OptionalLong lastNanos = worker.lastRollNanos();
        if (lastNanos.isPresent()) {
            return prefix + String.format(Locale.ROOT, "the last roll took %.1f s", lastNanos.getAsLong() / 1e9);
        }
        Duration limit = changed.worker().warmUpLimit();
        return prefix
                + (limit.isZero()
                        ? "without warm-up, in a few seconds"
                        : "its warm-up takes at most " + limit.toSeconds() + " s (worker.warm_up_limit)");
    }

    private Result resultOf(ConfigChange change) {
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

    /**
     * Returns true if the change sets a key to the value with which this launcher was started. The key then needs no
     * restart of the launcher any more.
     */
    private boolean isAtLaunch(ConfigChange change) {
        return String.valueOf(change.after()).equals(String.valueOf(atLaunch.get(change.key())));
    }

    /**
     * Returns {@code source} with the values that the launcher's own settings had at its start. Workers need the admin
     * addresses among them, because they deny clients access to these addresses.
     */
    private ConfigSource pinned(ConfigSource source, ProxyConfig changed) {
        Map<String, String> overlay = new HashMap<>(source.overlay());
        Map<String, String> ofTarget = SettingTexts.ofLauncher(changed);
        atLaunch.forEach((key, atStart) -> {
            if (!atStart.equals(ofTarget.get(key))) {
                overlay.put(key, atStart);
            }
        });
        return source.withOverlay(overlay);
    }

    /**
     * Returns the parsed configuration of {@code source}, which is the result of {@link #pinned} for {@code target}.
     * Checks it here, because workers do not check it again.
     *
     * @throws LaunchException if it has errors
     */
    private static ProxyConfig checked(ConfigSource source, ConfigTarget target) throws LaunchException {
        ProxyConfig pinned =
                source.equals(target.source()) ? target.config() : source.load().config();
        if (pinned == null) {
            throw new LaunchException(
                    "the configuration conflicts with changed settings that take effect only after a restart of the launcher");
        }
        return pinned;
    }

    /**
     * Replaces the worker by one with a changed configuration.
     *
     * @param source the result of {@link #pinned}
     * @param pinned the configuration of {@code source}
     */
    private WorkerPlan roll(Current running, ProxyConfig changed, ConfigSource source, ProxyConfig pinned)
            throws LaunchException {
        // The command line of the worker depends on the pinned settings: its heartbeat interval must match the timeout
        // of this launcher.
        ListeningSockets openSockets = running.plan().sockets();
        ListeningSockets sockets = openSockets == null ? null : openSockets.with(LauncherContext.addresses(changed));
        boolean isRolled = false;
        try {
            if (sockets != null) {
                applyTransparency(sockets, changed, openSockets);
            }
            WorkerPlan plan = new WorkerPlan(source, launcherContext.workerCommand(pinned), sockets);
            worker.roll(plan, changed.timeouts().drainNanos()).join();
            isRolled = true;
            return plan;
        } finally {
            if (!isRolled && openSockets != null) {
                restoreTransparency(openSockets, running.config());
            }
        }
    }

    private static void applyTransparency(
            ListeningSockets sockets, ProxyConfig changed, @Nullable ListeningSockets openSockets)
            throws LaunchException {
        try {
            sockets.applyTransparency(LauncherContext.transparency(changed));
        } catch (LaunchException e) {
            sockets.closeExcept(openSockets);
            throw e;
        }
    }

    /**
     * Restores the socket option for transparent proxying on the worker's sockets, as the configuration in force
     * requires.
     */
    private static void restoreTransparency(ListeningSockets openSockets, ProxyConfig config) {
        try {
            openSockets.applyTransparency(LauncherContext.transparency(config));
        } catch (LaunchException e) {
            LOG.warn(
                    "the transparency of the listening sockets cannot be restored after a failed change: {}",
                    e.getMessage());
        }
    }

    /**
     * Returns true if the worker rejects a setting that is not among the changes. (An answer with the key {@code *} is
     * about all settings together.) Such a worker runs another configuration than this launcher assumes, and must be
     * replaced. This happens if an earlier launcher started the worker and failed to replace it.
     */
    private static boolean hasOtherConfig(List<SettingChange> answers, List<ConfigChange> changes) {
        return answers.stream()
                .filter(answer ->
                        answer.result().equals("rejected") && !answer.key().equals("*"))
                .anyMatch(answer ->
                        changes.stream().noneMatch(change -> change.key().equals(answer.key())));
    }

    private List<Setting> outcomes(List<SettingChange> answers, List<ConfigChange> changes) {
        Map<String, SettingChange> byKey = new HashMap<>();
        for (SettingChange answer : answers) {
            byKey.put(answer.key(), answer);
        }
        List<Setting> settings = new ArrayList<>();
        for (ConfigChange change : changes) {
            SettingChange answer = byKey.getOrDefault(change.key(), byKey.get("*"));
            if (answer == null || isOfLauncher(change)) {
                settings.add(setting(change, resultOf(change)));
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
            detail += ", takes effect after a restart of the launcher";
        }
        return new Setting(change.key(), result, detail);
    }

    /**
     * Returns the outcome of a setting after a timeout. A new worker with the setting has replaced the one that did not
     * answer.
     */
    private Setting afterTimeout(ConfigChange change) {
        Result result = resultOf(change) == Result.RELAUNCH ? Result.RELAUNCH : Result.ROLLED;
        Setting made = setting(change, result);
        return new Setting(
                made.key(),
                result,
                made.detail() + "; the worker did not answer in time, so a new worker started with the change");
    }

    private static String value(@Nullable String text) {
        return text == null ? "not set" : text;
    }

    private static ReloadReport rejected(List<ConfigChange> changes, @Nullable String reason, List<String> notes) {
        LOG.error("the changed configuration is rejected: {}", reason);
        String detail = String.valueOf(reason);
        List<Setting> settings = changes.stream()
                .map(change -> new Setting(change.key(), Result.REJECTED, detail))
                .toList();
        return new ReloadReport(false, settings, List.of(), notes);
    }
}
