package io.millrace.cli.command.traffic;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.client.MetricChange;
import io.millrace.cli.client.MetricFamilies;
import io.millrace.cli.client.MetricSample;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.WatchInterval;
import io.millrace.cli.render.MetricView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "monitor",
        abbreviateSynopsis = true,
        description = {"Show how metrics change.", "Counters as a rate per second, gauges with their change."},
        footer = {"", "Example: millctl metric monitor requests cache_bytes -i 1 -c 10"})
public final class MetricMonitorCommand extends ApiCommand {
    private static final double NANOS_PER_SECOND = 1e9;

    @Parameters(
            paramLabel = "NAME",
            arity = "1..*",
            description = "A metric of /metrics; 'millrace_' and '_total' may be left out.")
    private List<String> names = List.of();

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            converter = WatchInterval.class,
            description = "Time between two results. Default: 5.")
    private Duration interval = Duration.ofSeconds(5);

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "Number of results. Default: until interrupted.")
    private long count = Long.MAX_VALUE;

    /** The metrics of one query, and its time on the scale of {@link System#nanoTime}. */
    private record Snapshot(List<MetricSample> all, MetricFamilies families, long nanos) {}

    public MetricMonitorCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (invocation().watch() != null) {
            throw new CommandFailure(ExitCode.USAGE, "monitor refreshes by itself: use -i instead of --watch");
        }
    }

    @Override
    protected boolean isEndless() {
        return count == Long.MAX_VALUE;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        Snapshot before = query(client);
        for (String name : names) {
            if (named(name, before).isEmpty()) {
                throw new CommandFailure(
                        ExitCode.FAILED, MetricNames.unknown(name, before.all()).substring("millctl: ".length()));
            }
        }
        long shown = 0;
        while (shown < count && invocation().clock().sleep(interval)) {
            Snapshot after = queryOrNull(client, () -> query(client));
            if (after != null) {
                show(before, after, shown > 0);
                before = after;
                shown++;
            }
            if (!console().flush()) {
                return ExitCode.FAILED;
            }
        }
        return ExitCode.OK;
    }

    private void show(Snapshot before, Snapshot after, boolean isRepeated) {
        double seconds = Math.max(1, after.nanos() - before.nanos()) / NANOS_PER_SECOND;
        List<MetricChange> changes = MetricChange.between(wanted(before), wanted(after), after.families(), seconds);
        if (invocation().isJson()) {
            console().json(JsonText.changes(Math.round(seconds * 1000) / 1000.0, changes));
            return;
        }
        if (isRepeated) {
            console().separate(false);
        }
        console().data(MetricView.changes(changes));
    }

    private static List<MetricSample> named(String name, Snapshot seen) {
        List<MetricSample> named = new ArrayList<>();
        for (MetricSample sample : seen.all()) {
            if (sample.isOf(name)) {
                named.add(sample);
            }
        }
        return named;
    }

    /**
     * Returns the samples of the requested metrics, in the order of the command line, each sample once. Some may be
     * missing, because a restarted worker process may not have created them yet.
     */
    private List<MetricSample> wanted(Snapshot seen) {
        Set<MetricSample> wanted = new LinkedHashSet<>();
        for (String name : names) {
            wanted.addAll(named(name, seen));
        }
        return List.copyOf(wanted);
    }

    private Snapshot query(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        List<MetricSample> all = MetricSample.parse(response.text());
        return new Snapshot(
                all,
                MetricFamilies.parse(response.text(), all),
                invocation().clock().nanoTime());
    }
}
