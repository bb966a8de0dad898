package io.millrace.proxy.admin.log;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.observe.log.live.NumberedRecord;
import io.millrace.proxy.observe.log.live.RecordJson;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/** Renders answers with records. Stateless. */
final class RecordsReply {
    private static final byte[] START = ",\"records\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "]}".getBytes(StandardCharsets.US_ASCII);

    private RecordsReply() {}

    /**
     * Returns an object with some members, and the records as its last member {@code records}.
     *
     * @param members writes the first members, at least one
     * @param showsClients false to leave out members that identify clients
     */
    static AdminReply of(Consumer<JsonGenerator> members, List<NumberedRecord> records, boolean showsClients) {
        byte[] first = AdminReply.json(members).body();
        ByteArrayOutputStream out = new ByteArrayOutputStream(first.length + START.length + 512 * records.size());
        out.write(first, 0, first.length - 1);
        out.writeBytes(START);
        RecordJson json = new RecordJson();
        for (int i = 0; i < records.size(); i++) {
            if (i > 0) {
                out.write(',');
            }
            out.writeBytes(json.object(records.get(i), showsClients));
        }
        out.writeBytes(END);
        return new AdminReply(200, AdminReply.JSON, out.toByteArray());
    }
}
