package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Formats the configuration problems in a response of the admin API, one on each line. The format is
 * {@code file:line:column: path: problem (did you mean …?)}. Stateless.
 */
public final class ProblemLines {
    private ProblemLines() {}

    /** Returns a line for each problem. The member {@code problems} may contain objects or strings. */
    public static List<String> of(JsonObject answer) {
        List<String> lines = new ArrayList<>();
        for (JsonObject problem : answer.objects("problems")) {
            lines.add(line(problem));
        }
        for (String problem : answer.texts("problems")) {
            lines.add(Printable.of(problem));
        }
        return lines;
    }

    /**
     * Returns a line for each problem, with the file name as the user typed it.
     *
     * @param absolute the absolute file name in the response
     * @param given the file name on the command line
     */
    public static List<String> of(JsonObject answer, String absolute, String given) {
        List<String> lines = new ArrayList<>();
        for (String line : of(answer)) {
            lines.add(line.startsWith(absolute + ":") ? given + line.substring(absolute.length()) : line);
        }
        return lines;
    }

    private static String line(JsonObject problem) {
        @Nullable String text = problem.text("text");
        if (text != null) {
            return Printable.of(text);
        }
        StringBuilder line = new StringBuilder();
        if (problem.has("file")) {
            line.append(problem.text("file", ""));
            if (problem.number("line", 0) > 0) {
                line.append(':').append(problem.number("line", 0));
                line.append(':').append(problem.number("column", 0));
            }
            line.append(": ");
        }
        String path = problem.text("path", "");
        line.append(path).append(path.isEmpty() ? "" : ": ").append(problem.text("message", "?"));
        @Nullable String suggestion = problem.text("suggestion");
        if (suggestion != null) {
            line.append(" (did you mean ").append(suggestion).append("?)");
        }
        return Printable.of(line.toString());
    }
}
