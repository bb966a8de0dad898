package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.DiffView;
import io.millrace.cli.render.Notes;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "diff",
        abbreviateSynopsis = true,
        description = {
            "Show differences from the defaults, and the changes of a reload.",
            "With two numbers: the differences of two configurations of the history."
        },
        footer = {
            "",
            "A star marks values that 'config set' has set.",
            "Example: millctl config diff",
            "         millctl config diff 3 5"
        })
public final class ConfigDiffCommand extends ApiCommand {
    @Parameters(arity = "0..2", paramLabel = "N", description = "Two numbers of 'config history', the older first.")
    private List<Integer> entries = new ArrayList<>();

    public ConfigDiffCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (entries.size() == 1) {
            throw new CommandFailure(ExitCode.USAGE, "name two configurations of the history, or none");
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        boolean between = !entries.isEmpty();
        AdminResponse response = client.get(
                between ? "/v1/config/diff?from=" + entries.get(0) + "&to=" + entries.get(1) : "/v1/config/diff");
        JsonObject report = answered(response);
        show(
                response,
                between
                        ? DiffView.changes(report)
                        : DiffView.settings(report, console().paint()));
        for (String note : Notes.of(report)) {
            console().say("note: " + note);
        }
        return ExitCode.OK;
    }
}
