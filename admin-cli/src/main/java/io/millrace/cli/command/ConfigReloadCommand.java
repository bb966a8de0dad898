package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.render.ProblemLines;
import io.millrace.cli.render.ReloadView;
import java.time.Duration;
import picocli.CommandLine.Command;

@Command(
        name = "reload",
        abbreviateSynopsis = true,
        description = {
            "Read the configuration file again and take over what changed.",
            "No downtime. Shows for every changed setting what became of it."
        },
        footer = {
            "",
            "applied   in use now",
            "rolled    in use in a new worker; the old one finishes its requests",
            "relaunch  in use after the launcher itself is started again",
            "rejected  not in use"
        })
final class ConfigReloadCommand extends ApiCommand {
    /** Longer than the 5 minutes that the API gives a new worker, so that its own word on what was slow arrives. */
    private static final Duration TIMEOUT = Duration.ofSeconds(320);

    ConfigReloadCommand(Invocation invocation) {
        super(invocation, TIMEOUT);
    }

    @Override
    boolean isChange() {
        return true;
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.post("/v1/config/reload", JsonText.emptyObject());
        JsonObject report = answered(response);
        show(response, ReloadView.lines(report, console().paint()));
        if (!report.isTrue("ok")) {
            boolean invalid = !ProblemLines.of(report).isEmpty();
            throw new CommandFailure(
                    invalid ? ExitCode.USAGE : ExitCode.FAILED,
                    "the change was rejected; what was in use stays in use",
                    invalid ? "correct it, then: millctl config reload" : whatNext());
        }
        int relaunch = ReloadView.count(report, "relaunch");
        if (report.objects("settings").isEmpty()) {
            console().say("nothing has changed");
        } else if (relaunch > 0) {
            console().say("to use what says relaunch, start the launcher again: systemctl restart millrace");
        }
        return ExitCode.OK;
    }
}
