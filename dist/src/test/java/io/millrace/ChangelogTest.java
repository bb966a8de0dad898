package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The changelog's entry for each version fits on one page. */
class ChangelogTest {
    private static final Path CHANGELOG = Path.of("../CHANGELOG.md");
    private static final int VERSION_LINES_MAX = 80;
    private static final int BULLET_CHARACTERS_MAX = 240;

    @Test
    void entriesAreShort() throws IOException {
        assertEquals(List.of(), tooLong(Files.readAllLines(CHANGELOG)));
    }

    @Test
    void longEntriesAreFound() {
        List<String> lines = new ArrayList<>(List.of("# Changelog", "## [0.2.0]", "- a".repeat(100), "## [0.1.0]"));
        lines.addAll(List.of("-\n".repeat(81).split("\n")));
        assertEquals(
                List.of("3: characters actual=300, limit=240", "[0.1.0]: lines actual=82, limit=80"), tooLong(lines));
    }

    /** Returns the entries above their limits: lines of a version with its heading, and characters of one line. */
    private static List<String> tooLong(List<String> lines) {
        List<String> found = new ArrayList<>();
        String version = null;
        int start = 0;
        for (int i = 0; i <= lines.size(); i++) {
            boolean heading = i == lines.size() || lines.get(i).startsWith("## ");
            if (heading && version != null && i - start > VERSION_LINES_MAX) {
                found.add(version + ": lines actual=" + (i - start) + ", limit=" + VERSION_LINES_MAX);
            }
            if (i < lines.size() && heading) {
                version = lines.get(i).substring("## ".length());
                start = i;
            }
            int characters = i < lines.size() ? lines.get(i).length() : 0;
            if (characters > BULLET_CHARACTERS_MAX) {
                found.add((i + 1) + ": characters actual=" + characters + ", limit=" + BULLET_CHARACTERS_MAX);
            }
        }
        return found;
    }
}
