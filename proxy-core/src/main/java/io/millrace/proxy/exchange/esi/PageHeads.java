package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.esi.SurrogateControl;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** The response heads of pages that are assembled from ESI documents. No state. */
final class PageHeads {
    /** Fields that describe the bytes of the document. They do not apply to the assembled page. */
    private static final List<FieldName> DOCUMENT_FIELDS = List.of(
            SurrogateControl.CONTROL,
            FieldName.CONTENT_LENGTH,
            FieldName.ETAG,
            FieldName.LAST_MODIFIED,
            FieldName.ACCEPT_RANGES,
            FieldName.of("Content-MD5"),
            FieldName.of("Digest"),
            FieldName.of("Content-Digest"),
            FieldName.of("Repr-Digest"));

    private PageHeads() {}

    /** Returns a new head with the status and the fields of a document, except fields about its bytes. */
    static OutboundHead of(OutboundHead document) {
        FieldSection fields = document.fieldsAfterEdits();
        FieldSection.Builder kept = FieldSection.builder();
        for (int line = 0; line < fields.size(); line++) {
            if (!isDocumentField(fields, line)) {
                kept.addLine(fields, line);
            }
        }
        OutboundHead page = new OutboundHead()
                .reset(document.status(), document.reason(), kept.build())
                .ageSeconds(document.ageSeconds())
                .via(document.via());
        if (document.strictTransportSecurity() != null) {
            page.strictTransportSecurity(document.strictTransportSecurity());
        }
        ByteBuf cacheStatus = document.cacheStatus();
        page.cacheStatus().writeBytes(cacheStatus, cacheStatus.readerIndex(), cacheStatus.readableBytes());
        if (document.closesConnection()) {
            page.closeConnection();
        }
        return page;
    }

    private static boolean isDocumentField(FieldSection fields, int line) {
        for (FieldName name : DOCUMENT_FIELDS) {
            if (fields.isNamed(line, name)) {
                return true;
            }
        }
        return false;
    }
}
