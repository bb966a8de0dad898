package io.millrace.proxy.access.password;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.access.password.PasswordVerifier.Result;
import io.millrace.proxy.config.guard.PasswordFile;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.bouncycastle.crypto.generators.OpenBSDBCrypt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PasswordVerifierTest {
    /** Vectors of jBCrypt. */
    private static final String USERS = """
            # users
            one:$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe
            three:$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i
            """;

    @TempDir
    Path directory;

    private final PasswordVerifier verifier = new PasswordVerifier();

    private PasswordFile file(String text) throws Exception {
        return PasswordFile.parse(LoadedFile.read(Files.writeString(directory.resolve("users"), text)));
    }

    private static byte[] header(String pair) {
        String encoded = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
        return ("Basic " + encoded).getBytes(StandardCharsets.US_ASCII);
    }

    private CredentialDigest digest(PasswordFile file, String pair) {
        byte[] value = header(pair);
        return verifier.digest(CredentialDigest.function(), file, value, 0, value.length);
    }

    private Result verify(PasswordFile file, String pair) throws Exception {
        Credentials credentials =
                Credentials.parse(file, new String(header(pair), StandardCharsets.US_ASCII), digest(file, pair));
        BlockingQueue<CredentialCheck.Result> results = new ArrayBlockingQueue<>(1);
        verifier.verify(credentials, ImmediateEventExecutor.INSTANCE, results::add);
        return (Result) results.take();
    }

    @ParameterizedTest
    @CsvSource({
        "one:a, RIGHT",
        "three:abc, RIGHT",
        "three:abd, WRONG",
        "three:, WRONG",
        "other:abc, WRONG",
        "one:abc, WRONG"
    })
    void comparesWithTheHash(String pair, Result expected) throws Exception {
        PasswordFile file = file(USERS);
        assertNull(verifier.remembered(digest(file, pair)));
        assertEquals(expected, verify(file, pair));
        assertEquals(expected, verifier.remembered(digest(file, pair)));
    }

    @Test
    void resultsBelongToTheContentOfTheFile() throws Exception {
        PasswordFile before = file(USERS);
        assertEquals(Result.RIGHT, verify(before, "one:a"));
        assertEquals(Result.RIGHT, verifier.remembered(digest(file(USERS), "one:a")));
        PasswordFile after = file(USERS.replace("one:", "uno:"));
        assertNull(verifier.remembered(digest(after, "one:a")));
        assertEquals(Result.WRONG, verify(after, "one:a"));
        assertNotEquals(
                digest(before, "one:a"),
                new PasswordVerifier().digest(CredentialDigest.function(), before, header("one:a"), 0, 10));
    }

    @Test
    void passwordsBeyondTheLimitOfBcryptAreWrong() throws Exception {
        String password = "p".repeat(72);
        String hash = OpenBSDBCrypt.generate("2y", password.toCharArray(), new byte[16], 4);
        PasswordFile file = file("u:" + hash + "\n");
        assertEquals(Result.RIGHT, verify(file, "u:" + password));
        assertEquals(Result.WRONG, verify(file, "u:" + password + "p"));
    }

    @Test
    void aComparisonThatFailsIsAnsweredAndNotRemembered() throws Exception {
        PasswordFile file = file(USERS);
        // A single surrogate is no text, which Credentials.parse never returns.
        Credentials faulty = new Credentials(file, "one", "\uD800", digest(file, "one:x"));
        BlockingQueue<CredentialCheck.Result> results = new ArrayBlockingQueue<>(1);
        verifier.verify(faulty, ImmediateEventExecutor.INSTANCE, results::add);
        assertEquals(Result.OVERLOADED, results.poll(1, TimeUnit.MINUTES));
        assertNull(verifier.remembered(faulty.digest()));
    }

    @Test
    void valuesOfOtherFormsHaveNoCredentials() throws Exception {
        PasswordFile file = file(USERS);
        CredentialDigest digest = digest(file, "a:b");
        for (String value : new String[] {"Bearer x", "Basic", "Basic *", "Basic YWJj", ""}) {
            assertNull(Credentials.parse(file, value, digest), value);
        }
        assertEquals("a", String.valueOf(Credentials.parse(file, "bAsIc YTpiOmM=", digest)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "one                      # :1: is not of the form USER:HASH",
                "one:$apr1$a$b            # :1: the password of one is not a bcrypt hash; write it again with htpasswd -B",
                "one:$2y$15$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe # :1: the hash of one has the cost 15",
                "                         # : has no user; add one with htpasswd -B",
            })
    void faultsOfFilesHaveTheirLine(String line, String message) {
        String text = line == null ? "" : line;
        InvalidValueException e = assertThrows(InvalidValueException.class, () -> file(text + "\n"));
        assertTrue(e.problem().startsWith(directory.resolve("users") + message), e.problem());
    }
}
