package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that the packed man pages and completions are those of the packed millctl. */
class PackedPagesTest {
    @RegisterExtension
    static final PackedProduct PRODUCT = PackedProduct.asShipped();

    private static String shared(String file) throws IOException {
        return Files.readString(PRODUCT.home().resolve("share").resolve(file));
    }

    private static String millctl(String... arguments) {
        return PRODUCT.millctl(arguments).succeeds().out();
    }

    @Test
    void theyAreWhatThePackedMillctlPrints() throws IOException {
        assertEquals(millctl("help", "--man"), shared("man/man1/millctl.1"));
        assertEquals(millctl("help", "--man", "log"), shared("man/man1/millctl-log.1"));
        assertEquals(millctl("completion", "bash"), shared("bash-completion/completions/millctl"));
        assertEquals(millctl("completion", "zsh"), shared("zsh/site-functions/_millctl"));
    }

    /** man finds the pages beside a bin/ of the PATH by itself. */
    @Test
    void theCommandsOfTheLauncherHavePagesToo() {
        for (String page : new String[] {"millrace", "millrace-run", "millrace-check", "millrace-import"}) {
            Path file = PRODUCT.home().resolve("share/man/man1/" + page + ".1");
            assertEquals(true, Files.isRegularFile(file), file.toString());
        }
    }
}
