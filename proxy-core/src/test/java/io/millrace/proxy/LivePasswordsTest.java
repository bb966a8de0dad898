package io.millrace.proxy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the passwords that requests need. */
class LivePasswordsTest {
    private static final String ANN = "Authorization: " + PasswordsOnTheWireTest.authorization("ann:a") + "\r\n";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    @BeforeEach
    void writeUsers() throws Exception {
        Files.writeString(directory.resolve("one"), PasswordsOnTheWireTest.line("ann", "a"));
        Files.writeString(directory.resolve("two"), PasswordsOnTheWireTest.line("bob", "b"));
        live.in(directory);
    }

    private LiveProxy passwords(String keys) {
        return live.file("basic_auth: {" + keys + "}");
    }

    @LiveKey("basic_auth.file")
    void file() throws Exception {
        passwords("file: <one|two>").turns(200, 401, () -> live.status(live.fresh(), ANN));
    }

    @LiveKey("basic_auth.enabled")
    void enabled() throws Exception {
        passwords("file: one, enabled: <true|false>").turns(401, 200, () -> live.status(live.fresh()));
    }

    @LiveKey("basic_auth.realm")
    void realm() throws Exception {
        passwords("file: one, realm: <a|b>")
                .turns(
                        "Basic realm=\"a\", charset=\"UTF-8\"",
                        "Basic realm=\"b\", charset=\"UTF-8\"",
                        () -> live.field("www-authenticate"));
    }

    @LiveKey("basic_auth.when")
    void condition() throws Exception {
        passwords("file: one, when: 'path =~ \"^/<a|v>\"'").turns(200, 401, () -> live.status("/v/1"));
    }
}
