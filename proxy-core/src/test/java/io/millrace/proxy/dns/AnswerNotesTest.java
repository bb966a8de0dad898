package io.millrace.proxy.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** Tests the notes about answers, for concurrent lookups. */
class AnswerNotesTest {
    private static final DnsRecord[] NONE = {};

    private final EventLoop loop = new EmbeddedChannel().eventLoop();
    private final AnswerNotes notes = new AnswerNotes();

    private void address(String name, long seconds) {
        notes.cache(name, NONE, InetAddress.getLoopbackAddress(), seconds, loop);
    }

    private void refused(String name) {
        notes.newDnsQueryLifecycleObserver(new DefaultDnsQuestion(name, DnsRecordType.A))
                .queryNoAnswer(DnsResponseCode.REFUSED);
    }

    private void begin(String... names) {
        for (String name : names) {
            notes.begin(name);
        }
    }

    @Test
    void aNameHasTheTimeOfItsOwnRecords() {
        begin("db", "db.example.com");
        address("db.", 10);
        address("db.example.com.", 20);
        assertEquals(10, notes.takeTtlSeconds("db"));
        assertEquals(20, notes.takeTtlSeconds("db.example.com"));
    }

    @Test
    void inEitherOrder() {
        begin("db", "db.example.com");
        address("db.", 20);
        address("db.example.com.", 10);
        assertEquals(10, notes.takeTtlSeconds("db.example.com"));
        assertEquals(20, notes.takeTtlSeconds("db"));
    }

    @Test
    void aNameThatIsFoundByASearchDomainHasTheTimeOfThat() {
        begin("db");
        address("db.example.com.", 20);
        assertEquals(20, notes.takeTtlSeconds("db"));
        assertEquals(0, notes.takeTtlSeconds("db"));
    }

    /** It is unknown which of the two lookups was answered, so both have the note. */
    @Test
    void aNameFoundByASearchDomainHasTheTimeUnderBothNames() {
        begin("db", "db.example.com");
        address("db.example.com.", 20);
        assertEquals(20, notes.takeTtlSeconds("db"));
        assertEquals(20, notes.takeTtlSeconds("db.example.com"));
    }

    @Test
    void anUnansweredNameKeepsTheNoteOfTheOther() {
        begin("db", "db.example.com");
        refused("db.example.com.");
        notes.takeServerError("db");
        assertTrue(notes.takeServerError("db.example.com"));
        assertFalse(notes.takeServerError("db.example.com"));
    }

    @Test
    void twoNamesForOneAliasAreBothGoodForNoLongerThanIt() {
        begin("a.test", "b.test");
        notes.cache("a.test.", "c.test.", 100, loop);
        notes.cache("b.test.", "c.test.", 100, loop);
        notes.cache("c.test.", "d.test.", 5, loop);
        assertEquals(5, notes.takeTtlSeconds("a.test"));
        assertEquals(5, notes.takeTtlSeconds("b.test"));
    }
}
