package io.millrace.launcher.ats;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A directory of Traffic Server that a test writes, and a proxy with the imported configuration in front of its own
 * origin.
 */
abstract class ImportedProxyFixture {
    @TempDir
    Path directory;

    ImportedProxy proxy;
    Samples samples;

    @BeforeEach
    void startOrigin() throws IOException {
        proxy = new ImportedProxy(directory);
        samples = proxy.samples();
    }

    @AfterEach
    void stop() {
        proxy.close();
    }
}
