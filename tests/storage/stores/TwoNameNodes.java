import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

/**
 * Two name nodes of one service with a folder of edits that both share, and a data node.
 *
 * <p>Arguments are settings of Hadoop, the addresses of both first, RPC and then HTTP. It does what it
 * is told, a line each: "active N" hands over in peace, "kill N" ends one that is active and lets the other be, "start N" brings it back.
 * The folder fences: a name node that lost its turn cannot write there.
 */
public final class TwoNameNodes {
  public static void main(String[] settings) throws Exception {
    Configuration conf = new HdfsConfiguration();
    for (String setting : settings) {
      conf.set(setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
    }
    MiniDFSNNTopology.NSConf service = new MiniDFSNNTopology.NSConf("lake");
    for (int i = 0; i < 2; i++) {
      int port = Integer.parseInt(settings[i].split(":")[1]);
      int web = Integer.parseInt(settings[2 + i].split(":")[1]);
      String name = "nn" + i;
      service.addNN(new MiniDFSNNTopology.NNConf(name).setIpcPort(port).setHttpPort(web));
    }
    MiniDFSNNTopology topology = new MiniDFSNNTopology().addNameservice(service);
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(conf).nnTopology(topology).numDataNodes(1).build();
    cluster.waitActive();
    cluster.transitionToActive(0);
    System.out.println("ready lake");
    BufferedReader told = new BufferedReader(new InputStreamReader(System.in));
    for (String line = told.readLine(); line != null; line = told.readLine()) {
      int node = Integer.parseInt(line.split(" ")[1]);
      if (line.startsWith("active")) {
        cluster.transitionToStandby(1 - node);
        cluster.transitionToActive(node);
      } else if (line.startsWith("kill")) {
        cluster.shutdownNameNode(node);
        cluster.transitionToActive(1 - node);
      } else {
        cluster.restartNameNode(node, false);
      }
      System.out.println("done " + line);
    }
    System.exit(0);
  }
}
