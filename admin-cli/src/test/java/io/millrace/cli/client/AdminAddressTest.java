package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AdminAddressTest {
    @Test
    void takesASocketADirectoryAndAUrl(@TempDir Path directory) {
        Path socket = directory.resolve("admin.sock");
        assertEquals(new AdminAddress.UnixSocket(socket), AdminAddress.parse(socket.toString()));
        assertEquals(new AdminAddress.UnixSocket(socket), AdminAddress.parse("unix:" + socket));
        assertEquals(new AdminAddress.UnixSocket(socket), AdminAddress.parse(directory.toString()));
        assertEquals(new AdminAddress.Tcp("localhost", 9090), AdminAddress.parse("http://localhost:9090/"));
        AdminAddress v6 = AdminAddress.parse("http://[::1]:9090");
        assertEquals(new AdminAddress.Tcp("::1", 9090), v6);
        assertEquals("http://[::1]:9090", v6.toString());
        AdminAddress secure = AdminAddress.parse("https://admin.example:9090");
        assertEquals(new AdminAddress.Tcp("admin.example", 9090, true), secure);
        assertEquals("https://admin.example:9090", secure.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "https://localhost, the port is missing",
        "https://localhost:9090/v1, not of the form http://HOST:PORT or https://HOST:PORT",
        "ftp://localhost:9090, not an address of an admin API",
        "http://localhost, the port is missing",
        "http://localhost:9090/v1, not of the form http://HOST:PORT",
        "http://user@localhost:9090, not of the form http://HOST:PORT",
        "http://, not of the form http://HOST:PORT",
        "unix:, path of the admin socket is empty",
        "localhost:9090, did you mean http://localhost:9090?",
        ":9090, did you mean http://localhost:9090?"
    })
    void saysWhatIsWrong(String text, String message) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> AdminAddress.parse(text));
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }
}
