package io.millrace.launcher.squid;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.ImportedLine;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests when a fetch continues after its client has left, by the rules of Squid. */
final class QuickAbortTest {
    @ParameterizedTest
    @CsvSource({
        // the default: every fetch continues
        "'min -1 KB', ''",
        "'min -1 KB;max 0 KB;pct 95', ''",
        "'pct 0', ''",
        // no fetch continues
        "'max 0 KB', 1",
        "'min 0 KB;max 0 KB;pct 95', 1",
        "'max -1 KB;pct 95', 1",
        // the received share decides
        "'pct 95', 0.95",
        "'min 0 KB;pct 95', 0.95",
        "'min 16 KB;max 16 KB;pct 50', 0.5",
        "'max 0 KB;max 16 KB;pct 100', 1",
        "'pct 101', ''",
    })
    void setsTheShareAfterWhichAFetchContinues(String lines, String share) {
        Draft draft = new Draft();
        List<ImportedLine> report = translate(lines, draft);
        DraftNode node = draft.root().find("cache.background_fill_completed_threshold");
        assertEquals(share, node == null ? "" : node.text());
        assertEquals(lines.split(";", -1).length, report.size());
    }

    @ParameterizedTest
    @CsvSource({
        "'min -1 KB', SAME_AS_DEFAULT",
        "'min 0 KB', NO_EFFECT",
        "'min 16 KB;max 0 KB', NOT_MAPPED",
        "'pct 101', NOT_MAPPED",
        "'min -1 KB;min 0 KB', NO_EFFECT",
    })
    void reportsTheFirstLine(String lines, String outcome) {
        assertEquals(outcome, translate(lines, new Draft()).get(0).outcome().name());
    }

    private static List<ImportedLine> translate(String text, Draft draft) {
        List<SquidLine> lines = new ArrayList<>();
        for (String each : text.split(";", -1)) {
            List<String> words = List.of(each.split(" ", -1));
            Entry entry = new Entry("squid.conf", lines.size() + 1, 1, each);
            lines.add(new SquidLine("quick_abort_" + words.get(0), words.subList(1, words.size()), entry));
        }
        QuickAbort.translate(lines, draft);
        draft.recordKeys();
        return lines.stream().map(line -> line.entry().finish()).toList();
    }
}
