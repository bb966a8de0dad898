package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the modes of created files, and the warnings about existing ones. */
class FilePermissionsTest {
    @TempDir
    Path directory;

    private Path key;
    private Path token;
    private Path volume;
    private Path log;

    @BeforeEach
    void make() throws IOException {
        key = mode(Files.writeString(directory.resolve("key.pem"), "key"), "rw-------");
        token = mode(Files.writeString(directory.resolve("token"), "0123456789abcdef"), "rw-r-----");
        volume = mode(Files.createDirectory(directory.resolve("volume")), "rwxr-x---");
        log = mode(Files.writeString(directory.resolve("access.log"), ""), "rw-r-----");
    }

    private static Path mode(Path file, String mode) throws IOException {
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    private ConfigResult check(String... more) {
        String text = "listen: [{address: ':1', tls: {certificate: " + key + ", key: " + key + "}}]\n"
                + "remap: [{map: /, to: http://o/}]\nadmin: {listen: '127.0.0.1:2', token_file: " + token + "}\n"
                + "storage: [{path: " + volume + ", size: 1GiB}]\nlog: {access: {path: " + log + "}}\n"
                + String.join("\n", more);
        return ConfigLoader.parse(text, "m.yaml", Map.of());
    }

    @Test
    void noWarningForFilesReadableByUserAndGroupOnly() {
        assertEquals("", check().text());
    }

    @Test
    void aKeyThatEverybodyReadsIsAWarningWithFileAndMode() throws IOException {
        mode(key, "rw-r--r--");
        ConfigResult result = check();
        assertNotNull(result.config());
        assertTrue(result.text().contains("warning: listen[0].tls.key: " + key + " has mode 0644"), result.text());
        assertTrue(result.text().contains("chmod o="), result.text());
    }

    @ParameterizedTest
    @CsvSource({
        "'', rw-r-----, the token has 0 characters; at least 16",
        "short, rw-r-----, the token has 5 characters; at least 16",
        "'0123456789abcde \n0123', rw-------, the token has 15 characters; at least 16",
        "0123456789abcdef, rw-r--r--, has mode 0644; chmod o-r"
    })
    void aTokenThatTheLauncherRefusesIsAnError(String content, String mode, String said) throws IOException {
        mode(Files.writeString(token, content.replace("\\n", "\n")), mode);
        ConfigResult result = check();
        assertEquals(null, result.config());
        for (String part : said.split("; ", -1)) {
            assertTrue(result.text().contains(part), result.text());
        }
        assertTrue(result.text().contains("admin.token_file: " + token), result.text());
        assertFalse(result.text().contains("0123456789"), result.text());
    }

    @Test
    void aMissingTokenFileIsAnError() throws IOException {
        Files.delete(token);
        assertTrue(check().text().contains(token + ": the token file cannot be read, no such file"), check().text());
    }

    /** A worker reads the file again, and does not need the token. */
    @Test
    void aTokenFileDeletedLaterIsNoErrorOfADocumentAlreadyRead() throws IOException {
        ConfigDocument document = check().document();
        Files.delete(token);
        assertEquals("", ConfigLoader.parse(document, Map.of(), Map.of()).text());
    }

    @Test
    void modesWiderThanFileModeAreWarnings() throws IOException {
        mode(volume, "rwxr-xr-x");
        mode(log, "rw-r--r--");
        String text = check().text();
        assertTrue(
                text.contains("storage[0].path: " + volume + " has mode 0755, wider than file_mode allows (0750)"),
                text);
        assertTrue(text.contains("run 'chmod 0750 " + volume + "'"), text);
        assertTrue(
                text.contains("log.access.path: " + log + " has mode 0644, wider than file_mode allows (0640)"), text);
        assertEquals("", check("file_mode: 0644").text());
        assertTrue(check("file_mode: '0600'").text().contains("0700"));
    }

    @ParameterizedTest
    @CsvSource({"0640, 750, 27", "0600, 700, 77", "0644, 755, 22", "0660, 770, 7", "0664, 775, 2"})
    void directoriesAreSearchableForReadersOfTheFiles(String text, String directories, String umask) throws Exception {
        FileMode mode = FileMode.parse(text);
        assertEquals(text, mode.toString());
        assertEquals(directories, Integer.toOctalString(mode.directoryBits()));
        assertEquals(umask, Integer.toOctalString(mode.umask()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"640", "0755", "0646", "0400", "0240", "1640", "rw-r-----", "", "06400"})
    void otherTextsAreNoModes(String text) {
        InvalidValueException refused = assertThrows(InvalidValueException.class, () -> FileMode.parse(text));
        assertTrue(refused.problem().contains("such as 0640"), refused.problem());
    }
}
