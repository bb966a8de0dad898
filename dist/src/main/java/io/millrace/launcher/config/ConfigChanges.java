package io.millrace.launcher.config;

import io.millrace.launcher.exit.FileFailure;
import io.millrace.proxy.admin.config.ConfigChanger;
import io.millrace.proxy.admin.config.ConfigControl;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.worker.control.ConfigSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The serial executor of configuration changes. One thread makes all changes in the order of the requests, so each
 * change sees the results of earlier changes. A change is applied completely or not at all. The overlay of the
 * configuration contains the values that {@code millctl config set} changed without saving them to the file.
 *
 * <p>Thread-safe.
 */
public final class ConfigChanges implements ConfigControl, ConfigChanger, AutoCloseable {
    /** Limit of waiting changes. A change takes seconds if it replaces the worker. */
    private static final int WAITING_MAX = 16;

    /** The command in events and in the history. */
    private static final String SET_AND_SAVE = "set --save";

    private final RunningConfig running;
    private final ThreadPoolExecutor thread;

    /** Creates the executor of changes of {@code running}. */
    public ConfigChanges(RunningConfig running) {
        this.running = running;
        thread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(WAITING_MAX), task -> {
            Thread made = new Thread(task, "config-changes");
            made.setDaemon(true);
            return made;
        });
    }

    @Override
    public CheckReport check(Path file) {
        return new CheckReport(ConfigTarget.problems(ConfigLoader.load(file, Map.of())));
    }

    @Override
    public CompletionStage<ReloadReport> reload(AdminCaller caller) {
        return queued(() -> running.apply(
                        ConfigTarget.ofFile(running.reader().read(), running.current()), "reload", caller))
                .whenComplete((report, failure) -> running.lastReload(outcome(report, failure)));
    }

    private static ProxyStatus.LastReload outcome(@Nullable ReloadReport report, @Nullable Throwable failure) {
        List<String> wrong = new ArrayList<>();
        if (report == null) {
            wrong.add(failure == null ? "" : String.valueOf(failure.getMessage()));
        } else {
            report.problems().forEach(problem -> wrong.add(problem.text()));
            report.settings().stream()
                    .filter(setting -> setting.result() == Result.REJECTED)
                    .forEach(setting -> wrong.add(setting.key() + ": " + setting.detail()));
        }
        boolean ok = report != null && report.ok();
        return new ProxyStatus.LastReload(
                ok, Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), wrong);
    }

    @Override
    public CompletionStage<ReloadReport> plan(@Nullable Path file) {
        return queued(() -> {
            ConfigReader reader = running.reader();
            return running.plan(
                    ConfigTarget.ofFile(file == null ? reader.read() : reader.read(file), running.current()));
        });
    }

    @Override
    public CompletionStage<ReloadReport> set(Map<String, String> settings, boolean save, AdminCaller caller) {
        return queued(() -> save ? setAndSave(settings, caller) : setInOverlay(settings, caller));
    }

    private ReloadReport setInOverlay(Map<String, String> settings, AdminCaller caller) {
        for (String path : settings.keySet()) {
            ConfigKey<?> key = ConfigCatalog.find(path);
            if (key != null && SettingTexts.isOfLauncher(key)) {
                String why =
                        "the setting takes effect only after a restart of the launcher, which drops unsaved values; add --save";
                return refused(settings.keySet(), path, why);
            }
        }
        RunningConfig.Current current = running.current();
        Map<String, String> overlay = new TreeMap<>(current.source().overlay());
        overlay.putAll(settings);
        ReloadReport report = running.apply(ConfigTarget.withOverlay(current, overlay), "set", caller);
        return withMissingKeys(report, settings.keySet(), "not changed: it has this value already");
    }

    private ReloadReport setAndSave(Map<String, String> settings, AdminCaller caller) {
        RunningConfig.Current current = running.current();
        for (String path : settings.keySet()) {
            SettingPlace place = current.places().get(path);
            if (place != null && place.text().startsWith(ConfigDocument.PUSHED)) {
                String why = "is set by the configuration of the fleet, which takes precedence over the file; push the"
                        + " change to the fleet, or omit --save";
                return refused(settings.keySet(), path, why);
            }
        }
        Map<String, String> overlay = new TreeMap<>(current.source().overlay());
        overlay.keySet().removeAll(settings.keySet());
        Map<String, String> expected = new HashMap<>(overlay);
        expected.putAll(settings);
        ConfigTarget expectedTarget = ConfigTarget.withOverlay(current, expected);
        if (expectedTarget.config() == null) {
            return withMissingKeys(running.apply(expectedTarget, SET_AND_SAVE, caller), settings.keySet(), "");
        }
        try (OperatorsFile file =
                OperatorsFile.open(running.reader(), current, settings.keySet(), running.instance())) {
            ConfigDocument edited = file.edit(settings);
            ConfigSource source = new ConfigSource(edited, current.source().overrides(), overlay);
            Map<String, String> overlaidValues = new HashMap<>(current.overlaidValues());
            overlaidValues.keySet().retainAll(overlay.keySet());
            ConfigTarget target = ConfigTarget.of(source, source.load(), overlaidValues, 0, List.of());
            if (target.config() == null || !target.config().equals(expectedTarget.config())) {
                throw new IOException(
                        "an edit of the file would change other settings too; change the file by hand, then reload");
            }
            file.prepare();
            ReloadReport report = running.apply(target, SET_AND_SAVE, caller);
            ReloadReport complete =
                    withMissingKeys(report, settings.keySet(), "not changed: it has this value already");
            return report.ok() ? writeFile(complete, file) : complete;
        } catch (IOException e) {
            return refused(settings.keySet(), "", FileFailure.text(e));
        }
    }

    /** Writes a change, which is already in force, to the file. Adds a note about success or failure to the report. */
    static ReloadReport writeFile(ReloadReport report, OperatorsFile file) {
        List<String> notes = new ArrayList<>(report.notes());
        boolean ok = true;
        try {
            String warning = file.replace();
            notes.add("written to " + file.path() + (warning == null ? "" : "; " + warning));
        } catch (IOException e) {
            ok = false;
            notes.add("the change is in use, but could not be written to the file, so the next reload reverts it: "
                    + FileFailure.text(e));
        }
        return new ReloadReport(ok, report.settings(), report.problems(), notes);
    }

    @Override
    public CompletionStage<ReloadReport> reset(List<String> keys, AdminCaller caller) {
        return queued(() -> {
            RunningConfig.Current current = running.current();
            Map<String, String> overlay = new TreeMap<>(current.source().overlay());
            for (String key : keys) {
                if (overlay.remove(key) == null) {
                    return refused(
                            keys,
                            key,
                            "has no value from config set; millctl config diff lists the keys that have one");
                }
            }
            if (keys.isEmpty()) {
                overlay.clear();
            }
            ReloadReport report = running.apply(ConfigTarget.withOverlay(current, overlay), "reset", caller);
            return withMissingKeys(report, keys, "the file has the same value");
        });
    }

    @Override
    public CompletionStage<ReloadReport> rollback(int entry, AdminCaller caller) {
        return queued(() -> {
            try {
                return rollBackTo(entry, caller);
            } catch (IOException e) {
                String why = FileFailure.text(e);
                return new ReloadReport(
                        false, List.of(), List.of(new Problem("", 0, 0, "", why, null, why)), List.of());
            }
        });
    }

    private ReloadReport rollBackTo(int entry, AdminCaller caller) throws IOException {
        RunningConfig.Current current = running.current();
        ConfigHistory history = running.history();
        int number = entry > 0 ? entry : history.numberBefore(current.rolledBackTo());
        ConfigSource restored = history.source(number);
        Map<String, String> settings = new LinkedHashMap<>(restored.overrides());
        settings.putAll(restored.overlay());
        // The configuration that all nodes of the fleet share has revisions of its own. A rollback does not change the
        // revision in force: it combines the restored text with this revision.
        ConfigDocument document =
                restored.document().withPushed(running.reader().pushed());
        ConfigSource source = new ConfigSource(document, settings, Map.of());
        ConfigSource file = running.reader().read().source();
        boolean isSameAsFile = file.equals(source);
        ConfigTarget target = ConfigTarget.of(source, source.load(), Map.of(), isSameAsFile ? 0 : number, List.of());
        ReloadReport report = running.apply(target, "rollback to " + number, caller);
        ProxyConfig config = target.config();
        if (!report.ok() || config == null) {
            return report;
        }
        history.rolledBack(number);
        List<String> notes = new ArrayList<>();
        if (!isSameAsFile) {
            notes.add(
                    "the file was not changed and differs from the running configuration (see millctl config diff); the next reload applies the file");
        }
        notes.addAll(overlayNotes(current, config, number));
        notes.addAll(report.notes());
        return new ReloadReport(true, report.settings(), report.problems(), notes);
    }

    /**
     * Returns notes about the values from {@code config set} after a rollback. One note lists the dropped keys, the
     * other note the keys that have the same value in the restored configuration.
     */
    private static List<String> overlayNotes(RunningConfig.Current before, ProxyConfig after, int number) {
        List<String> dropped = new ArrayList<>();
        List<String> restored = new ArrayList<>();
        for (String path : new TreeMap<>(before.source().overlay()).keySet()) {
            ConfigKey<?> key = ConfigCatalog.find(path);
            boolean isSame = key != null
                    && String.valueOf(SettingTexts.whole(before.config(), key))
                            .equals(String.valueOf(SettingTexts.whole(after, key)));
            (isSame ? restored : dropped).add(path);
        }
        List<String> notes = new ArrayList<>();
        if (!dropped.isEmpty()) {
            notes.add("values from config set were dropped: " + String.join(", ", dropped));
        }
        if (!restored.isEmpty()) {
            notes.add("configuration " + number + " contains values from config set: " + String.join(", ", restored));
        }
        return notes;
    }

    /**
     * Adds the requested keys that are missing in a report. If the change was accepted, these keys already had the
     * requested values. If it was rejected, they are rejected too.
     */
    private static ReloadReport withMissingKeys(ReloadReport report, Iterable<String> keys, String unchanged) {
        List<Setting> settings = new ArrayList<>(report.settings());
        for (String key : keys) {
            if (settings.stream().noneMatch(setting -> setting.key().equals(key))) {
                settings.add(
                        report.ok()
                                ? new Setting(key, Result.APPLIED, unchanged)
                                : new Setting(key, Result.REJECTED, reasonFor(report, key)));
            }
        }
        return new ReloadReport(report.ok(), settings, report.problems(), report.notes());
    }

    private static String reasonFor(ReloadReport report, String key) {
        for (Problem problem : report.problems()) {
            if (problem.path().equals(key)) {
                return problem.message();
            }
        }
        return "not set, because the keys are changed together and another key was rejected";
    }

    /**
     * Returns a report that rejects all settings.
     *
     * @param wrong the key that caused the rejection; empty for all keys
     */
    private static ReloadReport refused(Iterable<String> keys, String wrong, String why) {
        List<Setting> settings = new ArrayList<>();
        for (String key : keys) {
            boolean isReason = wrong.isEmpty() || key.equals(wrong);
            settings.add(new Setting(
                    key,
                    Result.REJECTED,
                    isReason
                            ? why
                            : "not changed, because the keys are changed together and another key was rejected"));
        }
        return new ReloadReport(false, settings, List.of());
    }

    /** Runs a task on the thread of configuration changes, after all changes that were requested earlier. */
    <T> CompletionStage<T> runSerially(Supplier<T> task) {
        return queued(task);
    }

    private <T> CompletionStage<T> queued(Supplier<T> change) {
        try {
            return CompletableFuture.supplyAsync(change, thread);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedStage(new AdminException(
                    503,
                    "busy",
                    WAITING_MAX + " changes of the configuration are already waiting (the limit); try again later"));
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
