package io.millrace.proxy.admin.dashboard;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.RequestSender;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The files of the dashboard: complete, small, without requests to others, and as their authors published them. */
class DashboardFilesTest {
    private static final Path DIRECTORY =
            Path.of("src", "main", "resources", "io", "millrace", "proxy", "admin", "dashboard");

    private static final int COMPRESSED_BYTES_MAX = 150 << 10;

    /** A row of THIRD-PARTY.md: file, licence, project with version, digest. */
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| (vendor/\\S+) \\| ([^|]+) \\| ([^|]+) \\| `([0-9a-f]{64})` \\|$");

    private static Stream<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(DIRECTORY)) {
            return files.filter(Files::isRegularFile).toList().stream();
        }
    }

    private static String name(Path file) {
        return DIRECTORY.relativize(file).toString();
    }

    static Stream<Path> ownFiles() throws IOException {
        return files().filter(file -> !name(file).startsWith("vendor/"));
    }

    private static RequestSender client(String... fields) {
        Map<String, String> byName = new TreeMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            byName.put(fields[i], fields[i + 1]);
        }
        return new RequestSender(null, false, byName::get);
    }

    private static Stream<String> served() throws IOException {
        return files().map(DashboardFilesTest::name)
                .filter(name -> !name.equals("files.txt") && !name.contains("LICENSE"));
    }

    @Test
    void everyFileIsListed() throws IOException {
        assertEquals(
                served().sorted().toList(),
                Files.readAllLines(DIRECTORY.resolve("files.txt")).stream()
                        .sorted()
                        .toList());
    }

    @Test
    void filesAreKeptByBrowsersAndThePageIsNot() throws IOException {
        DashboardFiles files = new DashboardFiles();
        for (String name : served().toList()) {
            AdminReply reply = files.file(files.version(), name, client());
            if (name.equals("index.html")) {
                assertNull(reply);
                continue;
            }
            assertEquals("public, max-age=31536000, immutable", reply.fields().get("cache-control"));
            assertArrayEquals(Files.readAllBytes(DIRECTORY.resolve(name)), reply.body());
            assertEquals(
                    304,
                    files.file(
                                    files.version(),
                                    name,
                                    client("if-none-match", reply.fields().get("etag")))
                            .status());
        }
        assertNull(files.file("0123456789abcdef", "app.js", client()), "another version");
        assertNull(files.file(files.version(), "files.txt", client()));
        AdminReply page = files.page(client());
        assertEquals("no-cache", page.fields().get("cache-control"));
        String tag = page.fields().get("etag");
        assertEquals('"' + files.version() + '"', tag);
        assertEquals(304, files.page(client("if-none-match", tag)).status());
        assertEquals(0, files.page(client("if-none-match", tag)).body().length);
        RequestSender gzip = client("accept-encoding", "gzip");
        String compressed = files.page(gzip).fields().get("etag");
        assertNotEquals(tag, compressed, "strong tags of different bytes");
        assertEquals(
                304,
                files.page(client("if-none-match", "\"x\", W/" + compressed)).status());
        assertSame(files.page(gzip), files.page(gzip), "a reply is made once");
        assertEquals(
                200, files.page(client("if-none-match", "\"0123456789abcdef\"")).status());
    }

    /** The event loop neither reads nor compresses: the first request runs on the worker thread. */
    @Test
    void firstRequestForAFileIsBlockingAndLaterOnesAreNot() throws AdminException {
        List<AdminResource> resources = FileResource.all(new DashboardFiles());
        AdminResource page = resources.get(0);
        assertTrue(resources.stream().allMatch(AdminResource::isBlocking));
        page.handle(
                new AdminRequest("GET", "/ui/", "/ui/", new byte[0], true), reply -> assertEquals(200, reply.status()));
        assertTrue(resources.stream().noneMatch(AdminResource::isBlocking));
    }

    /** Files that the first screen needs are loaded at once, and not one after the other. */
    @Test
    void pagePreloadsEveryModuleOfTheFirstScreen() throws IOException {
        DashboardFiles files = new DashboardFiles();
        String page = new String(files.page(client()).body(), StandardCharsets.UTF_8);
        TreeSet<String> named = new TreeSet<>();
        Matcher links = Pattern.compile("(?:href|src)=\"f/" + files.version() + "/([^\"]+)\"")
                .matcher(page);
        while (links.find()) {
            assertTrue(Files.exists(DIRECTORY.resolve(links.group(1))), links.group(1));
            named.add(links.group(1));
        }
        assertFalse(page.contains("{files}"), page);
        TreeSet<String> needed = new TreeSet<>();
        addImports("app.js", needed);
        needed.removeAll(named);
        assertEquals(new TreeSet<>(), needed);
    }

    private static void addImports(String name, Set<String> found) throws IOException {
        if (!found.add(name)) {
            return;
        }
        Matcher imports = Pattern.compile("(?m)^import .*from '\\./([^']+)';$")
                .matcher(Files.readString(DIRECTORY.resolve(name)));
        while (imports.find()) {
            addImports(imports.group(1), found);
        }
    }

    @Test
    void allFilesTogetherAreSmall() throws IOException {
        DashboardFiles files = new DashboardFiles();
        RequestSender client = client("accept-encoding", "gzip");
        int bytes = files.page(client).body().length;
        for (String name : served().toList()) {
            AdminReply reply = files.file(files.version(), name, client);
            bytes += reply == null ? 0 : reply.body().length;
        }
        assertTrue(bytes > 10_000 && bytes < COMPRESSED_BYTES_MAX, bytes + " bytes");
    }

    @ParameterizedTest
    @MethodSource("ownFiles")
    void noFileNamesAnotherHostOrWritesMarkup(Path file) throws IOException {
        String text = Files.readString(file)
                .replace("http://www.w3.org/2000/svg", "")
                .replaceAll("https?://www\\.example\\.com", "")
                .replace("^https?:\\/\\/", "");
        for (String forbidden : new String[] {
            "http:",
            "https:",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "dangerouslySet",
            "eval(",
            "new Function",
            "javascript:",
            "@import",
            "url("
        }) {
            assertFalse(text.contains(forbidden), () -> name(file) + " contains " + forbidden);
        }
    }

    @Test
    void startPageHasNoInlineCode() throws IOException {
        String page = Files.readString(DIRECTORY.resolve("index.html"));
        assertFalse(page.matches("(?s).*<script(?![^>]*\\bsrc=).*"), "a script without src");
        assertFalse(page.matches("(?s).*(<style|\\sstyle=|\\son[a-z]+=).*"), "inline style or handler");
    }

    /** The table of THIRD-PARTY.md has the digest of each file, and its licence is beside it. */
    @Test
    void vendoredFilesAreThePublishedOnes() throws IOException, NoSuchAlgorithmException {
        Map<String, String> listed = new TreeMap<>();
        Matcher rows = ROW.matcher(Files.readString(Path.of("..", "THIRD-PARTY.md")));
        while (rows.find()) {
            listed.put(rows.group(1), rows.group(4));
            assertTrue(rows.group(3).matches(".*\\d+\\.\\d+\\.\\d+.*"), rows.group());
        }
        Map<String, String> found = new TreeMap<>();
        for (Path file : files().filter(
                        file -> name(file).startsWith("vendor/") && !name(file).contains("LICENSE"))
                .toList()) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
            found.put(name(file), HexFormat.of().formatHex(digest));
        }
        assertEquals(found, listed);
        for (String licence : new String[] {"htm", "preact", "uplot"}) {
            assertTrue(Files.size(DIRECTORY.resolve("vendor/LICENSE-" + licence)) > 500, licence);
        }
    }
}
