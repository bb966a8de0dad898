package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.edge.EsiRule;
import io.millrace.proxy.esi.DocumentProperties;
import io.millrace.proxy.esi.EsiDocument;
import io.millrace.proxy.esi.EsiParser;
import io.millrace.proxy.esi.EsiSyntaxException;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One page that is assembled from an ESI document. Collects the document, requests its fragments, and sends the page.
 * Holds memory until the page is sent or closed.
 *
 * <p>Confined to one event loop.
 */
final class Page {
    /** Estimated size in bytes of the Java objects for one part of a document. */
    private static final int PART_BYTES = 64;

    /** Receives the end, once, unless the page is closed before. */
    interface End {
        /** The content of the page is written. */
        void onPageSent();

        /** The page cannot be assembled; nothing is sent. The caller closes the page. */
        void onPageFailure(PageFailure failure);

        /**
         * An unexpected exception occurred; the head was already sent if {@link #isSending}. The caller closes the
         * page.
         */
        void onPageFault(Throwable fault);

        /** The client takes too long to receive the page. The caller closes the page. */
        void onPageTooSlow();
    }

    private final PageAssembler assembler;
    private final ClientStream client;
    private final RequestHead request;
    /** The fragment as which another page includes this page; null for the page of a client. */
    private final @Nullable Fragment fragment;

    private final PageBudget budget;
    private final int documentBytesMax;
    private final OutboundHead head;
    private final End end;
    private final HeldMemory memory;
    private final CollectedContent document;
    /** The assembly, while fragments are requested. */
    private @Nullable PageAssembly assembly;

    private @Nullable PageSender sender;
    private boolean isClosed;

    /** @param received head of the document */
    Page(
            PageAssembler assembler,
            ClientStream client,
            RequestHead request,
            EsiRule rule,
            OutboundHead received,
            End end) {
        this.assembler = assembler;
        this.client = client;
        this.request = request;
        this.fragment = client instanceof Fragment of ? of : null;
        this.budget = fragment == null ? new PageBudget(rule.config()) : fragment.budget();
        this.documentBytesMax = rule.config().documentBytesMax();
        this.head = PageHeads.of(received);
        this.end = end;
        this.memory = new HeldMemory(assembler);
        this.document = new CollectedContent(memory);
    }

    /**
     * Prepares for the content of the document.
     *
     * @param length bytes of the content; negative if unknown
     */
    void begin(long length) {
        if (DocumentProperties.isEncoded(head.fieldsAfterEdits())) {
            end.onPageFailure(PageFailure.document(
                    "esi-encoding", "the document of the page has a content coding, so its markup cannot be read"));
        } else if (length > documentBytesMax) {
            end.onPageFailure(PageFailure.documentSize(length, true, documentBytesMax));
        } else {
            document.expect(length);
        }
    }

    /** Copies a piece of the document. Borrows the buffer. */
    void collect(ByteBuf piece) {
        int size = piece.readableBytes();
        if (document.length() + size > documentBytesMax) {
            end.onPageFailure(PageFailure.documentSize(document.length() + (long) size, false, documentBytesMax));
        } else if (!budget.takeBytes(size)) {
            end.onPageFailure(PageFailure.limit(PageFailure.PAGE_SIZE, budget.pageSizeText()));
        } else if (!document.append(piece)) {
            end.onPageFailure(outOfMemory());
        }
    }

    /** Bytes of the document so far. */
    int documentBytes() {
        return document.length();
    }

    private PageFailure outOfMemory() {
        if (fragment != null) {
            fragment.outOfMemory();
        }
        return PageFailure.memory(memory.text());
    }

    /** Requests the fragments of the complete document, and sends the page when they have arrived. */
    void assemble() {
        if (isClosed) {
            return;
        }
        try {
            EsiDocument parsed =
                    EsiParser.parse(document.take(), budget.config().includesMax());
            if (!memory.reserve((long) PART_BYTES * parsed.size())) {
                end.onPageFailure(outOfMemory());
                return;
            }
            int level = fragment == null ? 0 : fragment.level();
            PageAssembly begun =
                    new PageAssembly(assembler, client, request, parsed, level, budget, memory, new AssemblyEnd());
            assembly = begun;
            begun.start();
        } catch (EsiSyntaxException e) {
            end.onPageFailure(faulty(e));
        } catch (RuntimeException | Error e) {
            end.onPageFault(e);
        }
    }

    private PageFailure faulty(EsiSyntaxException e) {
        PageAssembler.FAULTS.reportFrequent(
                "a document has faulty markup (esi)", () -> PrintableUrl.of(request.target()) + ":" + e.getMessage());
        String text = "the markup of the page is faulty: " + e.getMessage();
        return e.reason() == EsiSyntaxException.Reason.TOO_MANY_INCLUDES
                ? PageFailure.limit(e.reason().text(), text)
                : PageFailure.document(e.reason().text(), text);
    }

    /** Receives the end of the assembly. */
    private final class AssemblyEnd implements PageAssembly.End {
        @Override
        public void onPage(PageContent content) {
            assembly = null;
            send(content);
        }

        @Override
        public void onFailure(PageFailure failure) {
            if (fragment != null && failure.isMemory()) {
                fragment.outOfMemory();
            }
            end.onPageFailure(failure);
        }

        @Override
        public void onFault(Throwable fault) {
            end.onPageFault(fault);
        }
    }

    private void send(PageContent content) {
        PageSender begun = new PageSender(client, content, new SenderEnd());
        sender = begun;
        if (fragment != null) {
            fragment.assembled();
        }
        client.writeHead(head.contentLength(content.length()));
        begun.send();
    }

    /** Receives the end of the content. */
    private final class SenderEnd implements PageSender.End {
        @Override
        public void onSent() {
            close();
            end.onPageSent();
        }

        @Override
        public void onFault(Throwable fault) {
            end.onPageFault(fault);
        }

        @Override
        public void onTooSlow() {
            end.onPageTooSlow();
        }
    }

    /** Returns true once the head of the page is sent. */
    boolean isSending() {
        return sender != null;
    }

    /** Continues to send. Called when the client is writable again. */
    void onWritable() {
        if (sender != null) {
            sender.send();
        }
    }

    /** Bytes of content sent so far. */
    long sentBytes() {
        return sender == null ? 0 : sender.sentBytes();
    }

    /** Cancels the requests for fragments, and releases the memory. */
    void close() {
        isClosed = true;
        if (assembly != null) {
            assembly.cancel();
            assembly = null;
        }
        if (sender != null) {
            sender.close();
        }
        document.clear();
        memory.close();
    }
}
