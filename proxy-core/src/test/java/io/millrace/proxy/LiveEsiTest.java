package io.millrace.proxy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the assembly of pages. */
class LiveEsiTest {
    private static final String ESI = "Surrogate-Control: content=\"ESI/1.0\"\r\n";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private final CountDownLatch gate = new CountDownLatch(1);

    @AfterEach
    void open() {
        gate.countDown();
    }

    /** Makes the origin answer with a document, and with {@code f} for its fragments. */
    private LiveProxy document(String fields, String content) {
        return live.script(request -> {
            if (request.has(" /fragment ")) {
                request.ok("", RawInput.latin1("f"));
            } else if (request.has(" /slow ")) {
                gate.await();
                request.ok("", RawInput.latin1("f"));
            } else {
                request.ok(fields, RawInput.latin1(content));
            }
        });
    }

    private String text() throws IOException {
        return live.text(live.fresh());
    }

    private int status() throws IOException {
        return live.status(live.fresh());
    }

    @LiveKey("esi.enabled")
    void enabled() throws Exception {
        document(ESI, "<esi:comment text=''/>")
                .file("esi: {enabled: <false|true>}")
                .turns("<esi:comment text=''/>", "", this::text);
    }

    @LiveKey("esi.when")
    void when() throws Exception {
        document("Content-Type: text/html\r\n", "<esi:remove/>")
                .file("esi: {when: <surrogate_control|always>}")
                .turns("<esi:remove/>", "", this::text);
    }

    @LiveKey("esi.max_depth")
    void maxDepth() throws Exception {
        document(ESI, "x<esi:include src='/next' onerror='continue'/>")
                .file("esi: {max_depth: <1|2>}")
                .turns("xx", "xxx", this::text);
    }

    @LiveKey("esi.max_includes")
    void maxIncludes() throws Exception {
        document(ESI, "<esi:include src='/fragment'/>".repeat(2))
                .file("esi: {max_includes: <1|2>}")
                .turns(502, 200, this::status);
    }

    @LiveKey("esi.max_document_size")
    void maxDocumentSize() throws Exception {
        document(ESI, "x".repeat(1500))
                .file("esi: {max_document_size: <1KiB|2KiB>}")
                .turns(502, 200, this::status);
    }

    @LiveKey("esi.max_page_size")
    void maxPageSize() throws Exception {
        document(ESI, "x".repeat(1500))
                .file("esi: {max_page_size: <1KiB|2KiB>}")
                .turns(502, 200, this::status);
    }

    @LiveKey("limits.memory_esi")
    void memory() throws Exception {
        document(ESI, "x".repeat(70_000))
                .file("esi: {}\nlimits: {memory_esi: <64KiB|1MiB>}")
                .turns(503, 200, this::status);
    }

    @LiveKey("esi.include_timeout")
    void includeTimeout() throws Exception {
        document(ESI, "x<esi:include src='/slow' onerror='continue'/>")
                .file("esi: {include_timeout: <10ms|1m>}")
                .turns("x", "xf", () -> {
                    if (live.isChanged()) {
                        gate.countDown();
                    }
                    return text();
                });
    }
}
