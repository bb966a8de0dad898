package io.millrace.proxy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of error pages. */
class LiveErrorPagesTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    @BeforeEach
    void writePages() throws Exception {
        Files.writeString(directory.resolve("one"), "<p>one</p>");
        Files.writeString(directory.resolve("two"), "<p>two</p>");
        live.in(directory);
    }

    private LiveProxy page(String keys) {
        return live.file("methods: [POST]\nerror_pages: [{" + keys + "}]");
    }

    private String text() throws Exception {
        return live.text(live.fresh());
    }

    @LiveKey("error_pages")
    void aPageIsAdded() throws Exception {
        live.file("methods: [POST]\nerror_pages: [{status: 500, file: one}<|, {status: 405, file: two}>]")
                .turns("405 Method Not Allowed: the method is not allowed for this URL\n", "<p>two</p>", this::text);
    }

    @LiveKey("remap[].error_pages")
    void pagesOfARemapRule() throws Exception {
        live.file("remap: [{map: /, to: '@origin', methods: [POST], error_pages: [{status: 405, file: <one|two>}]}]")
                .turns("<p>one</p>", "<p>two</p>", this::text);
    }

    @LiveKey("error_pages[].status")
    void status() throws Exception {
        page("status: [404, <410|405>], file: two")
                .turns("405 Method Not Allowed: the method is not allowed for this URL\n", "<p>two</p>", this::text);
    }

    @LiveKey("error_pages[].file")
    void file() throws Exception {
        page("status: 405, file: <one|two>").turns("<p>one</p>", "<p>two</p>", this::text);
    }

    @LiveKey("error_pages[].content_type")
    void contentType() throws Exception {
        page("status: 405, file: one, content_type: text/<a|b>")
                .turns("text/a", "text/b", () -> live.field("content-type"));
    }

    @LiveKey("error_pages[].set_response_header")
    void fields() throws Exception {
        page("status: 405, file: one, set_response_header: {X-A: <b|c>}").turns("b", "c", () -> live.field("x-a"));
    }
}
