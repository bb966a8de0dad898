package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.Notes;
import io.millrace.cli.render.ProblemLines;
import io.millrace.cli.render.ReloadView;
import java.time.Duration;

/** Base class of commands that change the configuration and report each changed setting. Confined to one thread. */
abstract class ConfigChangeCommand extends ApiCommand {
    /**
     * Timeout of a change. It exceeds the limit of 5 minutes in the admin API for the start of a new worker (the
     * process that serves requests), so that the API reports a timeout first.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(320);

    ConfigChangeCommand(Invocation invocation) {
        super(invocation, TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    /** Returns advice for the user if the configuration is valid, but the change failed. */
    String advice() {
        return "see the values that are set: millctl config diff";
    }

    /**
     * Shows the report of the admin API about a change. Returns the exit code.
     *
     * @param adviceIfInvalid advice for the user if the configuration is invalid
     */
    final int report(AdminResponse response, String adviceIfInvalid) throws AdminClientException, CommandFailure {
        JsonObject report = answered(response);
        show(response, ReloadView.lines(report, console().paint()));
        for (String note : Notes.of(report)) {
            console().say("note: " + note);
        }
        if (!report.isTrue("ok")) {
            boolean invalid = !ProblemLines.of(report).isEmpty();
            throw new CommandFailure(
                    invalid ? ExitCode.USAGE : ExitCode.FAILED,
                    ReloadView.count(report, "rejected") > 0 || invalid
                            ? "the change was rejected; the previous configuration stays in use"
                            : "the change is not complete",
                    invalid ? adviceIfInvalid : advice());
        }
        int relaunch = ReloadView.count(report, "relaunch");
        if (report.objects("settings").isEmpty()) {
            console().say("nothing has changed");
        } else if (relaunch > 0) {
            console().say("settings marked relaunch take effect when the launcher is started again; this");
            console().say("refuses no connection: systemctl kill --kill-who=main --signal=SIGKILL millrace");
        }
        return ExitCode.OK;
    }
}
