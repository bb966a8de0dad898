package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.Console;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.ProblemLines;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * The command {@code millctl config check}. A launcher (the process that owns the configuration and the admin API) that
 * is reachable through a Unix socket checks the file, since it runs on the same machine and sees the same file. Without
 * such a launcher, the command runs {@code millrace check}. Confined to one thread.
 */
@Command(
        name = "check",
        abbreviateSynopsis = true,
        description = {
            "List all problems of a configuration file, each with its place.",
            "Needs no running proxy and changes nothing."
        },
        footer = {"", "Example: millctl config check /etc/millrace/millrace.yaml"})
public final class ConfigCheckCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "The file to check.")
    private String file = "";

    private final Invocation invocation;

    public ConfigCheckCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        String absolute = absolute();
        AdminAddress address = launcher();
        String why = "no running millrace was found";
        if (address != null) {
            try {
                AdminResponse response = invocation
                        .clientOf(address, Invocation.CHANGE_TIMEOUT)
                        .post("/v1/config/check", JsonText.object("file", absolute));
                JsonObject answer = response.json();
                if (response.isSuccess()) {
                    return show(response.body(), answer, absolute);
                }
                why = answer.object("error").text("message", "the launcher refused with status " + response.status());
            } catch (AdminClientException e) {
                why = e.message();
            }
        }
        return checkLocally(why, address != null);
    }

    private String absolute() throws CommandFailure {
        try {
            return Path.of(file).toAbsolutePath().normalize().toString();
        } catch (InvalidPathException e) {
            throw new CommandFailure(ExitCode.USAGE, "not a path: " + file);
        }
    }

    /** Returns the address of a launcher on this machine; null if none is named or running. */
    private @Nullable AdminAddress launcher() throws CommandFailure {
        return invocation.addressIfAny() instanceof AdminAddress.UnixSocket socket ? socket : null;
    }

    private int show(byte[] json, JsonObject answer, String absolute) {
        boolean ok = answer.isTrue("ok");
        if (invocation.isJson()) {
            invocation.console().json(json);
        } else {
            invocation.console().data(ProblemLines.of(answer, absolute, file));
            if (ok) {
                invocation.console().data(List.of(file + ": ok"));
            }
        }
        return ok ? ExitCode.OK : ExitCode.USAGE;
    }

    private int checkLocally(String why, boolean launcherFound) throws CommandFailure {
        Console console = invocation.console();
        Path millrace = invocation.environment().millrace();
        if (millrace == null) {
            throw new CommandFailure(
                    ExitCode.UNREACHABLE,
                    why + ", and there is no bin/millrace beside this millctl that could check the file",
                    "run millctl from the unpacked product, or start: millrace run --config FILE");
        }
        if (launcherFound) {
            console.say("millctl: " + why + "; checking with " + millrace);
        }
        LocalCheck check = LocalCheck.run(millrace, file);
        boolean isVerdict = check.exitCode() == ExitCode.OK || check.exitCode() == ExitCode.USAGE;
        if (!isVerdict) {
            for (String line : check.problemLines()) {
                console.say(line);
            }
        } else if (invocation.isJson()) {
            console.json(JsonText.check(check.exitCode() == ExitCode.OK, check.problems()));
        } else {
            console.data(check.problemLines());
        }
        if (!invocation.isJson()) {
            console.data(check.outLines());
        }
        return check.exitCode();
    }
}
