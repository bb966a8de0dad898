"""The servers that run now: started when a case needs them, ended when none does any more."""
from comparison.errors import ComparisonError, NotAvailable
from comparison.peers import KINDS
from comparison.product import Millrace


class Fleet:
    """A with block; whatever happens in it, the servers are ended."""

    def __init__(self, bench, products, say):
        """products: {name: (home, settings)}; the one called millrace is what the targets are for."""
        self.bench = bench
        self.products = products
        self.say = say
        self.running = {}
        self.left_out = {}

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        for key in list(self.running):
            self._end(key)

    def for_case(self, case, names):
        """The servers of these names for a case, in this order; what cannot run is left out and said once."""
        for key in list(self.running):
            if case.fresh or key[1] != case.small_ram:
                self._end(key)
        servers = []
        for name in names:
            server = self._server(name, case.small_ram)
            if server is None or (case.load.tls and not server.tls):
                continue
            servers.append(server)
        return servers

    def drop(self, server):
        """Ends a server that failed, so that the next case starts it again."""
        self._end((server.name, server.small_ram))

    def why_left_out(self, names, case):
        """{name: reason} for those of these names that a case has to do without."""
        return {name: why for (name, small_ram), (why, _) in self.left_out.items()
                if name in names and small_ram == case.small_ram}

    @property
    def any_failed(self):
        """Whether a server that is installed did not start."""
        return any(failed for _, failed in self.left_out.values())

    def _server(self, name, small_ram):
        key = (name, small_ram)
        if key in self.running:
            return self.running[key]
        if key in self.left_out:
            return None
        try:
            server = self._make(name, small_ram)
            self.running[key] = server
            server.start()
            return server
        except NotAvailable as e:
            self._leave_out(key, str(e))
        except ComparisonError as e:
            self._leave_out(key, str(e), failed=True)
        return None

    def _make(self, name, small_ram):
        if name in self.products:
            home, settings = self.products[name]
            return Millrace(self.bench, home, name, settings, small_ram)
        return KINDS[name](self.bench, small_ram)

    def _leave_out(self, key, why, failed=False):
        self._end(key)
        self.left_out[key] = (why, failed)
        self.say(f"  {key[0]} is left out: {why}")

    def _end(self, key):
        server = self.running.pop(key, None)
        if server is not None:
            server.end()
