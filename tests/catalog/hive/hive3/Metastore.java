import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.hadoop.hive.metastore.txn.TxnStore;
import org.apache.hadoop.hive.metastore.txn.TxnUtils;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/** Hive 3's own metastore, on 127.0.0.1 alone: its main method listens on every address. */
public final class Metastore {
    private Metastore() {}

    /** Arguments: the port, and whether the database is new ({@code new}) or was used before. */
    public static void main(String[] arguments) throws Exception {
        Configuration conf = MetastoreConf.newMetastoreConf();
        IHMSHandler handler =
                RetryingHMSHandler.getProxy(
                        conf, new HiveMetaStore.HMSHandler("metastore", conf, false), true);
        if (arguments[1].equals("new")) {
            TxnDbUtil.prepDb(conf); // tables of transactions and locks
        }
        TServerSocket socket =
                new TServerSocket(
                        new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
        TThreadPoolServer.Args server =
                new TThreadPoolServer.Args(socket)
                        .processor(new TSetIpAddressProcessor<IHMSHandler>(handler))
                        .transportFactory(new TTransportFactory())
                        .protocolFactory(new TBinaryProtocol.Factory())
                        .minWorkerThreads(4)
                        .maxWorkerThreads(100);
        Thread timeouts = new Thread(() -> expire(conf));
        timeouts.setDaemon(true);
        timeouts.start();
        new TThreadPoolServer(server).serve();
    }

    /** Expires locks, as a service of Hive's main method does. */
    private static void expire(Configuration conf) {
        TxnStore store = TxnUtils.getTxnStore(conf);
        while (true) {
            store.performTimeOuts();
            try {
                Thread.sleep(500);
            } catch (InterruptedException ended) {
                return;
            }
        }
    }
}
