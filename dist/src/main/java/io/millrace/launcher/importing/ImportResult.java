package io.millrace.launcher.importing;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of an import. Immutable.
 *
 * @param yaml the valid configuration; null if the files could not be read
 * @param lines every line of every file, in the order of the files
 * @param problems errors that the other proxy would also report: {@code file:line:column: what}
 * @param warnings warnings of the importer, and of the validator about {@code yaml}
 * @param files the files that were read
 */
public record ImportResult(
        @Nullable String yaml,
        List<ImportedLine> lines,
        List<String> problems,
        List<String> warnings,
        List<String> files) {
    /** Returns the number of lines for each outcome. */
    public Map<Outcome, Integer> counts() {
        Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            counts.put(outcome, 0);
        }
        lines.forEach(line -> counts.merge(line.outcome(), 1, Integer::sum));
        return counts;
    }

    /** Returns true if no line is marked as not mapped. */
    public boolean isWhole() {
        return lines.stream().noneMatch(line -> line.outcome() == Outcome.NOT_MAPPED);
    }
}
