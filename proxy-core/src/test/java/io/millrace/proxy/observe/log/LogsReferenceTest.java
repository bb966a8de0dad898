package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.CacheResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Tests that {@code docs/reference/logs.md} matches the codes and formats of the access log. */
class LogsReferenceTest {
    private final String page = read();

    private static String read() {
        try {
            return Files.readString(Path.of("..", "docs", "reference", "logs.md"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void everyResultCodeIsExplained() {
        for (LogOutcome outcome : LogOutcome.values()) {
            assertOnPage("| `" + outcome.squidCode() + "` |", outcome != LogOutcome.OK);
        }
        for (CacheResult result : CacheResult.values()) {
            assertOnPage("`" + result.word() + "`", true);
            assertOnPage("| `" + code(entry -> entry.cache(result)) + "` |", true);
            assertOnPage("| `" + code(entry -> entry.cache(result).fromRam()) + "` |", true);
            assertOnPage("| `" + code(entry -> entry.cache(result).collapsed()) + "` |", true);
            assertOnPage("| `" + code(entry -> entry.cache(result).notModified()) + "` |", true);
        }
    }

    @Test
    void theExamplesAgreeWithTheFormats() {
        for (AccessLogFormat format : AccessLogFormat.NAMED) {
            assertOnPage("\n" + LogRecords.line(format, LogRecords::fillHit) + "\n", true);
            assertOnPage("### Format `" + format + "`", true);
        }
    }

    @Test
    void everyCodeOfTemplatesIsOnThePage() {
        for (String code : LogCodes.names()) {
            assertOnPage("`" + code + "`", true);
        }
    }

    @Test
    void everyColumnOfBinaryLogsIsOnThePage() {
        for (LogColumn column : LogColumn.values()) {
            assertOnPage("`" + column.columnName() + "`", true);
        }
        assertOnPage("### Format `" + AccessLogFormat.BINARY + "`", true);
        byte[] block = AccessLogFormat.BINARY.schema().block();
        assertOnPage(String.format("magic: %02x %02x %02x %02x", block[0], block[1], block[2], block[3]), true);
    }

    @Test
    void theBoundsOfLongFieldsAreTheFields() {
        for (LogField field : LogField.values()) {
            assertOnPage("| " + field.maxBytes() + " |", true);
        }
    }

    private static String code(java.util.function.Consumer<AccessLogRecord> filler) {
        String word = LogRecords.line(AccessLogFormat.SQUID, filler).split(" ", -1)[3];
        return word.substring(0, word.indexOf('/'));
    }

    private void assertOnPage(String text, boolean isExpected) {
        if (isExpected) {
            assertTrue(page.contains(text), () -> "docs/reference/logs.md has no " + text);
        }
    }
}
