package io.millrace.proxy.admin.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.admin.AdminConfig.Token;
import io.millrace.proxy.config.admin.AdminRole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of tokens and their files while the admin API is in use. */
class AdminAccessTest {
    @TempDir
    Path directory;

    private final AtomicLong now = new AtomicLong();

    private Path secret(String name, String content) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static Token token(String name, Path file, int perMinute) {
        return new Token(name, file, AdminRole.VIEWER, Set.of(), Set.of(), perMinute);
    }

    private static AdminConfig config(Token... tokens) {
        return new AdminConfig(null, null, null, List.of(tokens), null, 1);
    }

    @Test
    void aChangedFileIsReadAgainAndAnUnusableOneIsNot() throws IOException {
        Path file = secret("one", "first-token-of-16");
        AdminAccess access = AdminAccess.of(config(token("one", file, 0)), now::get);
        access.rereadChangedFiles();
        assertNotNull(access.find("first-token-of-16"));
        secret("one", "second-token-of-16");
        access.rereadChangedFiles();
        assertNull(access.find("first-token-of-16"));
        assertEquals("one", access.find("second-token-of-16").name());
        secret("one", "short");
        access.rereadChangedFiles();
        assertNotNull(access.find("second-token-of-16"), "the token read before stays in use");
        Files.delete(file);
        access.rereadChangedFiles();
        assertNotNull(access.find("second-token-of-16"));
    }

    @Test
    void aTokenThatIsRemovedIsRefusedAtOnce() throws IOException {
        Token one = token("one", secret("one", "first-token-of-16"), 0);
        Token two = token("two", secret("two", "other-token-of-16"), 0);
        AdminAccess access = AdminAccess.of(config(one, two), now::get);
        assertEquals(List.of(), access.apply(config(two)));
        assertNull(access.find("first-token-of-16"));
        assertNotNull(access.find("other-token-of-16"));
    }

    @Test
    void aNewTokenWithAnUnusableFileIsAProblemAndIsNotAccepted() throws IOException {
        Token one = token("one", secret("one", "first-token-of-16"), 0);
        AdminAccess access = AdminAccess.of(config(one), now::get);
        List<String> problems = access.apply(config(one, token("two", directory.resolve("none"), 0)));
        assertEquals(1, problems.size(), problems.toString());
        assertTrue(problems.get(0).startsWith("token 'two': " + directory.resolve("none")), problems.get(0));
        assertNotNull(access.find("first-token-of-16"));
        // Another file for a known name is not the file that was read before.
        problems = access.apply(config(token("one", directory.resolve("none"), 0)));
        assertTrue(problems.get(0).endsWith("this token is not accepted"), problems.get(0));
        assertNull(access.find("first-token-of-16"));
    }

    @Test
    void aReloadDoesNotRefillTheAllowance() throws IOException {
        Path file = secret("one", "first-token-of-16");
        AdminAccess access = AdminAccess.of(config(token("one", file, 2)), now::get);
        assertEquals(0, access.find("first-token-of-16").countRequest());
        assertEquals(0, access.find("first-token-of-16").countRequest());
        access.apply(config(token("one", file, 2)));
        assertEquals(30, access.find("first-token-of-16").countRequest());
        access.apply(config(token("one", file, 3)));
        assertEquals(0, access.find("first-token-of-16").countRequest());
        access.apply(config(token("one", file, 0)));
        assertEquals(0, access.find("first-token-of-16").countRequest());
    }
}
