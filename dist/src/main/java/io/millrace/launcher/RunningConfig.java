package io.millrace.launcher;

import io.millrace.proxy.admin.ConfigControl;
import io.millrace.proxy.admin.ProxyStatus;
import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ConfigKey;
import io.millrace.proxy.config.ConfigKeys;
import io.millrace.proxy.config.ConfigLoader;
import io.millrace.proxy.config.ConfigProblem;
import io.millrace.proxy.config.ConfigResult;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ListenerSockets;
import io.millrace.worker.control.SettingChange;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration that runs, and how it changes into another: settings that the worker can take over at once go to it;
 * one that needs a new worker brings a new worker; what only a new launcher can change is said to wait for it. A
 * configuration with a problem changes nothing.
 *
 * <p>Thread-safe: a change that is under way refuses the next one.
 */
final class RunningConfig implements ConfigControl {
    private static final Logger LOG = LoggerFactory.getLogger(RunningConfig.class);

    /** What holds now. */
    private record Current(ProxyConfig config, WorkerPlan plan, Instant loadedAt) {}

    private final ConfigReader reader;
    private final Workplace workplace;
    private final Supervisor supervisor;
    private volatile @Nullable Current current;
    private volatile ProxyStatus.@Nullable LastReload lastReload;

    RunningConfig(ConfigReader reader, Workplace workplace, Supervisor supervisor) {
        this.reader = reader;
        this.workplace = workplace;
        this.supervisor = supervisor;
    }

    /** What {@link #serve} will serve. */
    void begin(ProxyConfig config, WorkerPlan plan) {
        current = new Current(config, plan, Instant.now());
    }

    /** Starts the first worker. */
    void serve() {
        supervisor.start(running().plan(), drainNanos());
    }

    private Current running() {
        Current running = current;
        if (running == null) {
            throw new IllegalStateException("not started");
        }
        return running;
    }

    ProxyConfig config() {
        return running().config();
    }

    Instant loadedAt() {
        return running().loadedAt();
    }

    /** What the operator calls it. */
    String name() {
        return reader.name();
    }

    long drainNanos() {
        return running().config().timeouts().drainNanos();
    }

    /** What the serving worker was started for. */
    WorkerPlan plan() {
        return running().plan();
    }

    /** How workers are started now. */
    WorkerCommand command() {
        return workplace.starter(config());
    }

    /** With the ports they got. */
    List<ListenerSockets> listeners() {
        Current running = running();
        return running.plan().sockets() == null
                ? Workplace.unbound(running.config())
                : running.plan().listeners();
    }

    StartMessage startMessage(boolean demo) {
        return new StartMessage(
                workplace.complete(config()),
                reader.name(),
                listeners(),
                workplace.adminSocket(config()),
                running().plan().sockets() != null,
                demo);
    }

    @Override
    public CheckReport check(Path file) {
        return new CheckReport(problems(ConfigLoader.load(file, Map.of())));
    }

    /** What the last reload came to, null before the first. */
    ProxyStatus.@Nullable LastReload lastReload() {
        return lastReload;
    }

    @Override
    public CompletionStage<ReloadReport> reload() {
        return readAndApply().whenComplete((report, failure) -> {
            List<String> wrong = new ArrayList<>();
            if (failure != null) {
                wrong.add(String.valueOf(failure.getMessage()));
            } else {
                report.problems().forEach(problem -> wrong.add(problem.text()));
                report.settings().stream()
                        .filter(setting -> setting.result() == Result.REJECTED)
                        .forEach(setting -> wrong.add(setting.key() + ": " + setting.detail()));
            }
            boolean ok = failure == null && report.ok();
            lastReload = new ProxyStatus.LastReload(
                    ok, Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), wrong);
        });
    }

    private CompletionStage<ReloadReport> readAndApply() {
        ConfigReader.Reading reading = reader.read();
        ProxyConfig changed = reading.result().config();
        if (changed == null) {
            return CompletableFuture.completedStage(new ReloadReport(false, List.of(), problems(reading.result())));
        }
        Current running = running();
        List<ConfigChange> changes = ConfigChange.between(running.config(), changed);
        boolean rolls = changes.stream().anyMatch(RunningConfig::needsNewWorker);
        try {
            ConfigSource source = pinned(reading.source(), running.config(), changes);
            if (changes.isEmpty()) {
                return CompletableFuture.completedStage(new ReloadReport(true, List.of(), List.of()));
            }
            return rolls ? roll(running, changed, source, changes) : handOver(running, changed, source, changes);
        } catch (LaunchException e) {
            return CompletableFuture.completedStage(rejected(changes, e.getMessage()));
        }
    }

    /** A list of listeners is the launcher's own, but it can bind and unbind; the worker is then a new one. */
    private static boolean needsNewWorker(ConfigChange change) {
        return change.apply() == ConfigKey.Apply.ROLLING || isListen(change);
    }

    private static boolean isListen(ConfigChange change) {
        return change.key().equals(ConfigKeys.LISTEN.path());
    }

    private static boolean needsNewLauncher(ConfigChange change) {
        return change.apply() == ConfigKey.Apply.RELAUNCH && !isListen(change);
    }

    /** {@code source} with the settings held that only another launcher may change. */
    private static ConfigSource pinned(ConfigSource source, ProxyConfig running, List<ConfigChange> changes) {
        Map<String, String> overrides = new HashMap<>(source.overrides());
        for (ConfigChange change : changes) {
            String transport = ConfigKeys.WORKER_TRANSPORT.path();
            if (change.key().equals(transport)) {
                overrides.put(transport, running.worker().transport().name().toLowerCase(Locale.ROOT));
            }
        }
        return new ConfigSource(source.name(), source.directory(), source.text(), overrides);
    }

    private CompletionStage<ReloadReport> roll(
            Current running, ProxyConfig changed, ConfigSource source, List<ConfigChange> changes)
            throws LaunchException {
        ListeningSockets held = running.plan().sockets();
        ListeningSockets sockets = held == null
                ? null
                : held.with(Workplace.addresses(changed), Workplace.socketsPerAddress(running.config()));
        WorkerPlan plan = new WorkerPlan(source, workplace.starter(changed), sockets);
        return supervisor.roll(plan, running.config().timeouts().drainNanos()).handle((nothing, failure) -> {
            if (failure != null) {
                return rejected(changes, failure.getMessage());
            }
            current = new Current(changed, plan, Instant.now());
            List<Setting> settings = new ArrayList<>();
            for (ConfigChange change : changes) {
                Result result = needsNewLauncher(change)
                        ? Result.RELAUNCH
                        : needsNewWorker(change) ? Result.ROLLED : Result.APPLIED;
                settings.add(new Setting(change.key(), result, detail(change)));
            }
            return report(settings);
        });
    }

    private CompletionStage<ReloadReport> handOver(
            Current running, ProxyConfig changed, ConfigSource source, List<ConfigChange> changes) {
        return supervisor.reload(source).handle((answers, failure) -> {
            if (failure != null) {
                return rejected(changes, failure.getMessage());
            }
            Map<String, SettingChange> byKey = new HashMap<>();
            answers.forEach(answer -> byKey.put(answer.key(), answer));
            List<Setting> settings = new ArrayList<>();
            for (ConfigChange change : changes) {
                SettingChange answer = byKey.getOrDefault(change.key(), byKey.get("*"));
                Result result = Result.APPLIED;
                String detail = detail(change);
                if (needsNewLauncher(change)) {
                    result = Result.RELAUNCH;
                } else if (answer != null) {
                    result = Result.valueOf(answer.result().toUpperCase(Locale.ROOT));
                    detail = answer.detail().isEmpty() ? detail : answer.detail();
                }
                settings.add(new Setting(change.key(), result, detail));
            }
            if (settings.stream().noneMatch(setting -> setting.result() == Result.REJECTED)) {
                current = new Current(changed, running.plan().with(source), Instant.now());
            }
            return report(settings);
        });
    }

    private static String detail(ConfigChange change) {
        if (needsNewLauncher(change)) {
            return "holds from the next start of the launcher";
        }
        return change.before() == null && change.after() == null
                ? "changed"
                : "was " + value(change.before()) + ", is " + value(change.after());
    }

    private static String value(@Nullable String text) {
        return text == null ? "the default" : text;
    }

    private static ReloadReport rejected(List<ConfigChange> changes, @Nullable String reason) {
        LOG.error("the changed configuration is not used: {}", reason);
        String detail = String.valueOf(reason);
        return new ReloadReport(
                false,
                changes.stream()
                        .map(change -> new Setting(change.key(), Result.REJECTED, detail))
                        .toList(),
                List.of());
    }

    private static ReloadReport report(List<Setting> settings) {
        boolean ok = settings.stream().noneMatch(setting -> setting.result() == Result.REJECTED);
        return new ReloadReport(ok, List.copyOf(settings), List.of());
    }

    private static List<Problem> problems(ConfigResult result) {
        return result.problems().stream()
                .filter(problem -> problem.severity() == ConfigProblem.Severity.ERROR)
                .map(problem -> new Problem(
                        problem.file() == null ? "" : problem.file(),
                        problem.line(),
                        problem.column(),
                        problem.path(),
                        problem.message(),
                        problem.suggestion(),
                        problem.text()))
                .toList();
    }
}
