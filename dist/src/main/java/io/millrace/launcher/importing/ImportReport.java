package io.millrace.launcher.importing;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import io.millrace.launcher.importing.source.Printable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Formats the result of an import as text or JSON. Stateless. */
public final class ImportReport {
    /** Limit of the shown text of a line in characters. */
    private static final int TEXT_MAX = 100;

    private ImportReport() {}

    /** Returns a table of the lines by file, with a summary. */
    public static List<String> table(ImportResult result) {
        List<String> out = new ArrayList<>();
        String file = "";
        for (ImportedLine line : result.lines()) {
            if (!line.file().equals(file)) {
                file = line.file();
                out.add(Printable.text(file));
            }
            out.add(String.format(
                    "%6d  %-11s  %s", line.line(), line.outcome().label(), Printable.cut(line.text(), TEXT_MAX)));
            String keys = String.join(", ", line.keys());
            if (!keys.isEmpty()) {
                out.add("                     = " + Printable.text(keys));
            }
            if (!line.note().isEmpty()) {
                out.add("                     " + Printable.text(line.note()));
            }
        }
        out.addAll(problems(result));
        if (result.yaml() == null) {
            return out;
        }
        Map<Outcome, Integer> counts = result.counts();
        out.add("");
        out.add(result.lines().size() + " lines: " + counts.get(Outcome.MAPPED) + " mapped, "
                + counts.get(Outcome.SAME_AS_DEFAULT) + " are Millrace's default, " + counts.get(Outcome.NO_EFFECT)
                + " without effect in Millrace, " + counts.get(Outcome.NOT_MAPPED) + " not mapped or in part only");
        result.warnings().forEach(warning -> out.add(Printable.text(warning)));
        out.add("checked: ok"
                + (result.isWhole() ? "" : "; the configuration can be used without the lines that are not mapped"));
        return out;
    }

    /** Returns the problems, with characters escaped for a terminal. */
    public static List<String> problems(ImportResult result) {
        return result.problems().stream().map(Printable::text).toList();
    }

    /**
     * Returns the result as a JSON object.
     *
     * @param written path of the written configuration; null if it was not written
     */
    public static String json(ImportResult result, @Nullable String written) {
        StringBuilder out = new StringBuilder("{\"checked\":").append(result.yaml() != null);
        out.append(",\"out\":").append(written == null ? "null" : quoted(written));
        out.append(",\"counts\":{");
        String separator = "";
        for (Map.Entry<Outcome, Integer> count : result.counts().entrySet()) {
            out.append(separator)
                    .append(quoted(count.getKey().word()))
                    .append(':')
                    .append(count.getValue());
            separator = ",";
        }
        out.append("},\"files\":").append(array(result.files()));
        out.append(",\"lines\":[");
        separator = "";
        for (ImportedLine line : result.lines()) {
            out.append(separator)
                    .append("{\"file\":")
                    .append(quoted(line.file()))
                    .append(",\"line\":")
                    .append(line.line())
                    .append(",\"column\":")
                    .append(line.column())
                    .append(",\"text\":")
                    .append(quoted(line.text()))
                    .append(",\"outcome\":")
                    .append(quoted(line.outcome().word()))
                    .append(",\"keys\":")
                    .append(array(line.keys()))
                    .append(",\"note\":")
                    .append(quoted(line.note()))
                    .append('}');
            separator = ",";
        }
        out.append("],\"problems\":").append(array(result.problems()));
        out.append(",\"warnings\":").append(array(result.warnings()));
        String yaml = result.yaml();
        return out.append(",\"yaml\":")
                .append(yaml == null ? "null" : quoted(yaml))
                .append('}')
                .toString();
    }

    private static String array(List<String> texts) {
        return texts.stream().map(ImportReport::quoted).collect(Collectors.joining(",", "[", "]"));
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                default -> {
                    if (c < ' ' || Character.isSurrogate(c) || Character.getType(c) == Character.FORMAT || c == 0x7f) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        return out.append('"').toString();
    }
}
