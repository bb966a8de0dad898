package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the table of targets in docs/guide/purging.md with the requests that are parsed. */
class PurgeTargetsTest {
    private static final String HEADING = "| target | PURGE | `regex`, BAN |";

    static List<Arguments> targets() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("../docs/guide/purging.md"));
        List<Arguments> targets = new ArrayList<>();
        for (int i = lines.indexOf(HEADING) + 2; lines.get(i).startsWith("| `/"); i++) {
            String[] cells = lines.get(i).substring(2).split(" *\\| *", -1);
            for (String target : cells[0].split(", ", -1)) {
                targets.add(Arguments.of(target.replace("`", ""), cells[1], cells[2]));
            }
        }
        return targets;
    }

    @Test
    void theTableIsFound() throws IOException {
        assertTrue(targets().size() > 10);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("targets")
    void aTargetMeansWhatTheGuideSays(String target, String plain, String regex) {
        assertEquals(plain, meaning("PURGE", target, null));
        assertEquals(plain, meaning("PURGE", target, "default"));
        assertEquals(plain, meaning("PURGE", target, "exact"));
        assertEquals(regex, meaning("PURGE", target, "regex"));
        assertEquals(regex, meaning("BAN", target, null));
    }

    private static String meaning(String method, String target, String purgeMethod) {
        TargetUri url = assertInstanceOf(TargetUri.class, TargetUri.parseAbsolute("http://www.example.com" + target));
        FieldSection.Builder fields = FieldSection.builder();
        if (purgeMethod != null) {
            fields.add("X-Purge-Method", purgeMethod);
        }
        PurgeRequest parsed = PurgeRequest.of(RequestHead.of(method, url, fields.build()));
        if (parsed instanceof PurgeRequest.Prefix prefix) {
            return "prefix `" + prefix.url().path() + "`";
        }
        if (parsed instanceof PurgeRequest.Matching matching) {
            return matching.beginning() == null ? "pattern" : "host";
        }
        if (parsed instanceof PurgeRequest.Unsupported) {
            return "501";
        }
        return parsed instanceof PurgeRequest.Host
                ? "host"
                : parsed instanceof PurgeRequest.Urls ? "URL" : String.valueOf(parsed);
    }
}
