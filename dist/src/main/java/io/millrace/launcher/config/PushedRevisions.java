package io.millrace.launcher.config;

import io.millrace.launcher.fleet.config.ConfigTargets;
import io.millrace.proxy.admin.config.ConfigControl.Problem;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies the revisions that a fleet pushes. A revision is a numbered version of the configuration that all nodes of
 * the fleet share. It is applied like a reload, from the local file combined with the revision. Thread-safe: the work
 * is done on the thread of configuration changes.
 */
public final class PushedRevisions implements ConfigTargets {
    /**
     * Time for which the result of a check may be used. It is limited, because files that the configuration names may
     * change.
     */
    private static final long CHECKED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final RunningConfig running;
    private final ConfigChanges changes;
    private final BooleanSupplier canApply;
    private final LongSupplier clockNanos;
    /**
     * The result of the latest check, kept so that the node that pushes a revision parses it only once; null for none.
     */
    private @Nullable Checked checked;

    private record Checked(Pushed pushed, ConfigReader.Reading reading, long atNanos) {}

    /** @param canApply returns false while the worker of an earlier launcher serves, which cannot be changed */
    public PushedRevisions(RunningConfig running, ConfigChanges changes, BooleanSupplier canApply) {
        this(running, changes, canApply, System::nanoTime);
    }

    /** @param clockNanos monotonic clock in nanoseconds, such as {@link System#nanoTime} */
    PushedRevisions(RunningConfig running, ConfigChanges changes, BooleanSupplier canApply, LongSupplier clockNanos) {
        this.running = running;
        this.changes = changes;
        this.canApply = canApply;
        this.clockNanos = clockNanos;
    }

    @Override
    public long revision() {
        Pushed present = running.reader().pushed();
        return present == null ? 0 : present.revision();
    }

    @Override
    public CompletionStage<List<String>> check(Pushed pushed) {
        return changes.runSerially(() -> {
            ConfigReader.Reading reading = running.reader().read(pushed);
            checked = reading.result().isOk() ? new Checked(pushed, reading, clockNanos.getAsLong()) : null;
            return ConfigTarget.problems(reading.result()).stream()
                    .map(Problem::text)
                    .toList();
        });
    }

    @Override
    public CompletionStage<List<String>> apply(long revision, @Nullable Pushed pushed) {
        if (!canApply.getAsBoolean()) {
            return CompletableFuture.failedFuture(new IOException(
                    "the worker of an earlier launcher is being replaced; the revision is applied afterwards"));
        }
        return changes.runSerially(() -> {
            Pushed present = running.reader().pushed();
            if (present != null && pushed != null && present.text().equals(pushed.text())) {
                // Only the revision number differs, for example after a failed canary (a trial of a revision on some
                // nodes). So no reload is needed.
                running.reader().push(pushed);
                return List.of();
            }
            ConfigReader.Reading reading = reading(pushed);
            ConfigTarget target = ConfigTarget.ofFile(reading, running.current());
            ReloadReport report = running.apply(target, "fleet revision " + revision, AdminCaller.UNKNOWN);
            if (report.ok()) {
                running.reader().push(pushed);
            }
            return problems(report);
        });
    }

    private ConfigReader.Reading reading(@Nullable Pushed pushed) {
        Checked last = checked;
        checked = null;
        if (last != null && last.pushed().equals(pushed) && isUnchanged(last)) {
            return last.reading();
        }
        return running.reader().read(pushed);
    }

    /**
     * Returns true if the last check was made recently and with the same local file, and that file includes no others.
     */
    private boolean isUnchanged(Checked last) {
        ConfigReader.Reading reading = last.reading();
        Path file = running.reader().file();
        if (clockNanos.getAsLong() - last.atNanos() > CHECKED_NANOS
                || reading.config().values().isSet(FileKeys.INCLUDE)) {
            return false;
        }
        try {
            return file == null
                    || Files.readString(file, StandardCharsets.UTF_8)
                            .equals(reading.source().document().text());
        } catch (IOException e) {
            return false;
        }
    }

    private static List<String> problems(ReloadReport report) {
        if (report.ok()) {
            return List.of();
        }
        List<String> problems =
                new ArrayList<>(report.problems().stream().map(Problem::text).toList());
        report.settings().stream()
                .filter(setting -> setting.result() == Result.REJECTED)
                .forEach(setting -> problems.add(setting.key() + ": " + setting.detail()));
        return problems.isEmpty() ? List.of("rejected") : problems;
    }
}
