package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.Notes;
import io.millrace.cli.render.ReloadView;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "plan",
        abbreviateSynopsis = true,
        description = {"Show the changes that a reload of a file would make.", "Changes nothing."},
        footer = {
            "",
            "applied   would be in use at once, in the running worker",
            "rolled    would need a new worker; the old one finishes its requests",
            "relaunch  the launcher itself would have to be started again",
            "",
            "Example: millctl config plan /etc/millrace/millrace.yaml.new"
        })
public final class ConfigPlanCommand extends ApiCommand {
    @Parameters(arity = "0..1", paramLabel = "FILE", description = "The file. Default: the file in use.")
    private @Nullable String file;

    public ConfigPlanCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        byte[] body = file == null ? JsonText.emptyObject() : JsonText.object("file", absolute(file));
        AdminResponse response = client.post("/v1/config/plan", body);
        JsonObject report = answered(response);
        show(response, ReloadView.lines(report, console().paint()));
        for (String note : Notes.of(report)) {
            console().say("note: " + note);
        }
        if (!report.isTrue("ok")) {
            throw new CommandFailure(ExitCode.USAGE, "a reload would be rejected; nothing was changed");
        }
        if (report.objects("settings").isEmpty()) {
            console().say("a reload would change nothing");
        }
        return ExitCode.OK;
    }

    private static String absolute(String name) throws CommandFailure {
        try {
            return Path.of(name).toAbsolutePath().normalize().toString();
        } catch (InvalidPathException e) {
            throw new CommandFailure(ExitCode.USAGE, "not a path: " + name);
        }
    }
}
