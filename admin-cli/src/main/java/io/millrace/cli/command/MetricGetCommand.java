package io.millrace.cli.command;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.client.MetricSample;
import io.millrace.cli.render.MetricView;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "get",
        abbreviateSynopsis = true,
        description = "Show the values of metrics, one line per set of labels.",
        footer = {"", "Example: millctl metric get millrace_requests_total cache_bytes"})
final class MetricGetCommand extends ApiCommand {
    @Parameters(
            paramLabel = "NAME",
            arity = "1..*",
            description = "A metric of /metrics; 'millrace_' and '_total' may be left out.")
    private List<String> names = List.of();

    MetricGetCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        List<MetricSample> all = MetricSample.parse(response.text());
        List<MetricSample> found = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String name : names) {
            int before = found.size();
            for (MetricSample sample : all) {
                if (sample.isOf(name) && !found.contains(sample)) {
                    found.add(sample);
                }
            }
            if (before == found.size() && !isAny(found, name)) {
                unknown.add(name);
            }
        }
        if (invocation().isJson()) {
            console().json(JsonText.metrics(found));
        } else {
            console().data(MetricView.lines(found));
        }
        for (String name : unknown) {
            String near = nearest(name, all);
            console().say("millctl: no metric " + name + (near == null ? "" : " (did you mean " + near + "?)"));
        }
        if (unknown.isEmpty()) {
            return ExitCode.OK;
        }
        if (client.address() instanceof AdminAddress.UnixSocket socket) {
            console().say("  see all: curl -s --unix-socket " + socket + " http://localhost/metrics");
        }
        return ExitCode.FAILED;
    }

    private static boolean isAny(List<MetricSample> samples, String name) {
        for (MetricSample sample : samples) {
            if (sample.isOf(name)) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable String nearest(String name, List<MetricSample> samples) {
        String full = name.startsWith("millrace_") ? name : "millrace_" + name;
        String nearest = null;
        int least = Math.max(3, name.length() / 3);
        for (MetricSample sample : samples) {
            int distance = distance(full, sample.name());
            if (distance < least) {
                least = distance;
                nearest = sample.name();
            }
        }
        return nearest;
    }

    /** How many characters to insert, delete or replace (Levenshtein). */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }
}
