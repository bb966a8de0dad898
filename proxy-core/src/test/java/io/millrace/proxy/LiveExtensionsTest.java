package io.millrace.proxy;

import io.millrace.proxy.extension.load.ExtensionJars;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the extensions of remap rules. */
class LiveExtensionsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    private Path directory;

    @LiveKey("remap[].extensions")
    void extensionsOfARemapRule() throws Exception {
        Path jar = ExtensionJars.one(directory.resolve("mark.jar"), "Mark", ExtensionJars.MARK);
        live.file("extensions: [{name: m, jar: '" + jar + "', config: {mark: here}}]\n"
                        + "remap: [{map: /, to: '@origin', extensions: <[]|[m]>}]")
                .turns(
                        "null",
                        "here",
                        () -> String.valueOf(live.get(live.fresh()).field("x-mark")));
    }
}
