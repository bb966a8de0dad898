package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.client.MetricChange;
import io.millrace.cli.client.MetricFamilies;
import io.millrace.cli.client.MetricSample;
import io.millrace.cli.render.MetricView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "monitor",
        abbreviateSynopsis = true,
        description = {"Show how metrics change.", "Counters per second, others by their change."},
        footer = {"", "Example: millctl metric monitor requests cache_bytes -i 1 -c 10"})
final class MetricMonitorCommand extends ApiCommand {
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
            description = "Time between two looks. Default: 5.")
    private Duration interval = Duration.ofSeconds(5);

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "How many results. Default: until interrupted.")
    private long count = Long.MAX_VALUE;

    /** One look. */
    private record Look(List<MetricSample> samples, MetricFamilies families, long nanos) {}

    MetricMonitorCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    void check() throws CommandFailure {
        if (invocation().watch() != null) {
            throw new CommandFailure(ExitCode.USAGE, "monitor looks again by itself: use -i in place of --watch");
        }
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        Look before = look(client);
        for (long shown = 0; shown < count && invocation().pause().pass(interval); shown++) {
            Look after = look(client);
            double seconds = Math.max(1, after.nanos() - before.nanos()) / NANOS_PER_SECOND;
            List<MetricChange> changes =
                    MetricChange.between(before.samples(), after.samples(), after.families(), seconds);
            if (invocation().isJson()) {
                console().json(JsonText.changes(Math.round(seconds * 1000) / 1000.0, changes));
            } else {
                if (shown > 0) {
                    console().another(false);
                }
                console().data(MetricView.changes(changes));
            }
            if (!console().flush()) {
                return ExitCode.FAILED;
            }
            before = after;
        }
        return ExitCode.OK;
    }

    private Look look(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        List<MetricSample> all = MetricSample.parse(response.text());
        List<MetricSample> found = new ArrayList<>();
        for (String name : names) {
            int before = found.size();
            for (MetricSample sample : all) {
                if (sample.isOf(name) && !found.contains(sample)) {
                    found.add(sample);
                }
            }
            if (before == found.size()) {
                throw new CommandFailure(
                        ExitCode.FAILED, MetricNames.unknown(name, all).substring("millctl: ".length()));
            }
        }
        return new Look(found, MetricFamilies.parse(response.text(), all), System.nanoTime());
    }
}
