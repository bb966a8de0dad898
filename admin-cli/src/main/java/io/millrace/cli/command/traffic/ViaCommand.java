package io.millrace.cli.command.traffic;

import io.millrace.cli.client.ViaJson;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.Console;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.ViaView;
import io.millrace.cli.via.ViaString;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "via",
        abbreviateSynopsis = true,
        description = {
            "Explain the letters of a Via field.",
            "Reads letters of Millrace and of Traffic Server (24, 22 or 6). Works offline."
        },
        footer = {"", "Example: millctl via '[uScHs f p eN:t cCHi p s ]'"})
public final class ViaCommand implements Callable<Integer> {
    /** Limit of characters that are read of a line. A Via field is shorter. */
    private static final int LINE_LENGTH_MAX = 8192;

    @Parameters(
            paramLabel = "VIA",
            arity = "0..1",
            description = "The letters, or a whole value. Default: lines of standard input.")
    @Nullable
    private String via;

    private final Invocation invocation;

    public ViaCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        if (via != null) {
            decode(via);
            return ExitCode.OK;
        }
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(invocation.environment().input(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank()) {
                    decode(line.substring(0, Math.min(LINE_LENGTH_MAX, line.length())));
                }
            }
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "standard input cannot be read (" + e.getMessage() + ")");
        }
        return ExitCode.OK;
    }

    private void decode(String text) throws CommandFailure {
        List<ViaString> found;
        try {
            found = ViaString.parse(text);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()));
        }
        Console console = invocation.console();
        if (invocation.isJson()) {
            console.json(ViaJson.of(found));
        } else {
            console.data(ViaView.lines(found, console.paint()));
        }
    }
}
