package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the table of refusals in docs/guide/purging.md with the errors in the sources of purges. */
class PurgeRefusalsTest {
    private static final Path ADMIN = Path.of("src/main/java/io/millrace/proxy/admin");

    /** Sources, or directories of sources, whose errors a purge through the admin API may have. */
    private static final List<String> SOURCES = List.of(
            "purge",
            "vendor",
            "cache/PatternForms.java",
            "cache/PurgeResource.java",
            "data/FleetScopes.java",
            "data/PurgeAdmin.java",
            "data/PurgeCount.java",
            "data/PurgeCounts.java",
            "data/PurgePermission.java",
            "data/ScopedPurges.java",
            "data/SitePatterns.java",
            "data/SitesOfRules.java",
            "data/UrlPurge.java",
            "TcpGuard.java",
            "TokenRights.java");

    /** Errors that no purge has: for the dashboard, and for paths without a resource. */
    private static final Set<String> OTHERS = Set.of("403 dashboard-refused", "404 not-found");

    private static final Pattern ERROR = Pattern.compile("new AdminException\\(\\s*(\\d{3}),\\s*\"([a-z-]+)\"");

    private static final Pattern ROW = Pattern.compile("\\| ((?:\\d{3}(?:, )?)+) \\| ((?:`[a-z-]+`(?:, )?)+) \\|.*");

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        for (String source : SOURCES) {
            try (Stream<Path> files = Files.walk(ADMIN.resolve(source))) {
                files.filter(Files::isRegularFile).forEach(found::add);
            }
        }
        return found;
    }

    /** Returns the rows as texts such as {@code 400 bad-request}. */
    private static Set<String> documented() throws IOException {
        Set<String> documented = new TreeSet<>();
        for (String line : Files.readAllLines(Path.of("../docs/guide/purging.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                for (String status : row.group(1).split(", ", -1)) {
                    for (String code : row.group(2).split(", ", -1)) {
                        documented.add(status + " " + code.replace("`", ""));
                    }
                }
            }
        }
        return documented;
    }

    @Test
    void everyRefusalIsInTheGuide() throws IOException {
        Set<String> missing = new TreeSet<>();
        for (Path source : sources()) {
            Matcher error = ERROR.matcher(Files.readString(source));
            while (error.find()) {
                missing.add(error.group(1) + " " + error.group(2));
            }
        }
        assertTrue(missing.size() > 15, missing::toString);
        missing.removeAll(OTHERS);
        missing.removeAll(documented());
        assertEquals(Set.of(), missing);
    }
}
